package wire

import (
	"cmp"
	"fmt"

	"laconic/compact"
)

// Error writes OpenAI's envelope.
func (*chat) Error(e Error) []byte {
	param := []byte("null")
	if e.Param != "" {
		param = quoted(e.Param)
	}
	return fmt.Appendf(nil, `{"error":{"message":%s,"type":%s,"param":%s,"code":%s}}`+"\n", quoted(e.Message), quoted(e.Type), param, quoted(e.Code))
}

// TooLong uses OpenAI's own sentences, because agents read the numbers out of them
// and recover from exactly these. M is what the client sent, not what compaction
// could make of it, so that a client that cuts M − N tokens is sure to fit.
func (w *chat) TooLong(r *compact.Report, most, tools int) Error {
	if r.After <= r.Budget {
		return Error{Param: w.list, Code: "array_above_max_length", Message: fmt.Sprintf(
			"Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
			w.list, most, r.MessagesBefore)}
	}
	parts, or := "", ""
	if tools > 0 {
		parts, or = fmt.Sprintf(" (%d in the messages, %d in the functions)", r.Before-tools, tools), " or functions"
	}
	return Error{Param: w.list, Code: "context_length_exceeded", Message: fmt.Sprintf(
		"%sThis model's maximum context length is %d tokens. However, your messages resulted in %d tokens%s. "+
			"Please reduce the length of the messages%s.", w.exceeds, r.Budget, r.Before, parts, or)}
}

// messagesTypes are Anthropic's types of errors, where they differ from OpenAI's.
var messagesTypes = map[string]string{
	"server_error": "api_error", "insufficient_quota": "billing_error", "requests": "rate_limit_error", "tokens": "rate_limit_error",
}

// Error writes Anthropic's envelope, with the code for programs.
func (*messages) Error(e Error) []byte {
	kind := quoted(cmp.Or(messagesTypes[e.Type], e.Type))
	return fmt.Appendf(nil, `{"type":"error","error":{"type":%s,"message":%s,"code":%s}}`+"\n", kind, quoted(e.Message), quoted(e.Code))
}

// TooLong uses Anthropic's own sentence, from which agents compact by themselves. N is
// what the client sent.
func (*messages) TooLong(r *compact.Report, most, _ int) Error {
	if r.After <= r.Budget {
		return Error{Param: "messages", Code: "array_above_max_length", Message: fmt.Sprintf(
			"messages: List should have at most %d items after validation, not %d", most, r.MessagesBefore)}
	}
	return Error{Param: "messages", Code: "context_length_exceeded", Message: fmt.Sprintf(
		"prompt is too long: %d tokens > %d maximum", r.Before, r.Budget)}
}
