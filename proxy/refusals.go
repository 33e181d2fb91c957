package proxy

import (
	"fmt"
	"net/http"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

// tooLong is the answer to a conversation that stays above its budget under a
// policy that rejects: OpenAI's own sentences, because agents read the numbers
// out of them and recover from exactly these. M is what the client sent, not
// what compaction could make of it, so that a client that cuts M − N tokens
// is sure to fit.
//
// functions is what of the fixed cost the tools take.
func tooLong(r *compact.Report, most, functions int) *apierror.Error {
	if r.After <= r.Budget {
		return &apierror.Error{
			Status: http.StatusBadRequest, Param: "messages", Code: "array_above_max_length",
			Message: fmt.Sprintf("Invalid 'messages': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
				most, r.MessagesBefore),
			Detail: breakdown(r),
		}
	}
	e := &apierror.Error{
		Status: http.StatusBadRequest, Param: "messages", Code: "context_length_exceeded",
		Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. "+
			"Please reduce the length of the messages.", r.Budget, r.Before),
		Detail: breakdown(r),
	}
	if functions > 0 {
		e.Message = fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens "+
			"(%d in the messages, %d in the functions). Please reduce the length of the messages or functions.",
			r.Budget, r.Before, r.Before-functions, functions)
	}
	return e
}

func breakdown(r *compact.Report) string {
	return fmt.Sprintf("%d tokens in %d messages, of them %d fixed; %d tokens in %d messages after everything; budget %d",
		r.Before, r.MessagesBefore, r.Fixed, r.After, r.MessagesAfter, r.Budget)
}

// unreadable is the answer to a chat request that cannot be read, where the
// configuration is strict.
func unreadable(why, detail string) *apierror.Error {
	if why == "encoding" {
		return &apierror.Error{
			Status: http.StatusUnsupportedMediaType, Code: why, Detail: detail,
			Message: "The proxy reads request bodies that are plain, gzip or zstd, and this one is none of them.",
		}
	}
	return &apierror.Error{
		Status: http.StatusBadRequest, Code: why, Detail: detail,
		Message: "The proxy cannot read this chat request: " + wire.Code(why).Sentence() + ".",
		Hint:    "It is configured to refuse such requests instead of passing them.",
	}
}

func shuttingDown() *apierror.Error {
	return &apierror.Error{
		Status: http.StatusServiceUnavailable, Code: apierror.CodeShutdown, Close: true,
		Message: "The proxy is shutting down.",
	}
}
