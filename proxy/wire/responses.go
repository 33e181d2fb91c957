package wire

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/overflow"
)

// responses is the API of responses, whose history is a list of items. Its error
// envelope is that of the chat API.
type responses struct{ chat }

// Responses is the API of responses, as OpenAI and all who are compatible with it
// speak it.
var Responses Wire = &responses{chat{api{
	name: "responses", completion: "output_tokens", model: "response.model",
	// Those that open a stream echo the instructions and the tools.
	events: overflow.Events{Opening: []string{"response.created", "response.queued", "response.in_progress"}},
}}}

// ends are the events that end a stream.
var ends = []string{"response.completed", "response.incomplete", "response.failed", "error"}

func (w *responses) End(a Answer) End {
	const prompt, cached = "input_tokens", "input_tokens_details.cached_tokens"
	e := End{Usage: w.usageIn(a.Tail, prompt, cached)}
	if e.Usage == nil {
		e.Usage = w.usageIn(a.Head, prompt, cached) // some put it before the items
	}
	if !a.Stream {
		e.Generated = e.Usage != nil || bytes.Contains(a.Head, []byte(`"output"`))
		return e
	}
	kind, stop := lastEventType(a.Tail), ""
	if kind == "response.incomplete" {
		stop = "length"
	}
	e.Done = slices.Contains(ends, kind) || done(a.Tail)
	e.Generated = e.Done && kind != "response.failed" && kind != "error"
	e.Flaw = a.flaw(stop, e.Usage, e.Done, false)
	return e
}

// lastEventType returns the type of the last event in the end of a stream, "" where it is
// not there: the last event repeats all of the answer, and where it has no line that
// names it the start may be cut off.
func lastEventType(text []byte) string {
	if i := bytes.LastIndex(text, []byte("event:")); i >= 0 && (i == 0 || text[i-1] == '\n' || text[i-1] == '\r') {
		name, _, _ := bytes.Cut(text[i+len("event:"):], []byte("\n"))
		return string(bytes.TrimSpace(name))
	}
	if i := bytes.LastIndex(text, []byte("data:")); i >= 0 && (i == 0 || text[i-1] == '\n' || text[i-1] == '\r') {
		line, _, _ := bytes.Cut(text[i+len("data:"):], []byte("\n"))
		if line = bytes.TrimSpace(line); gjson.ValidBytes(line) {
			return gjson.GetBytes(line, "type").String()
		}
		return ""
	}
	if bytes.Contains(text, []byte(`"usage":`)) { // nothing else reports it
		return ends[0]
	}
	return ""
}

// TooLong uses OpenAI's own sentence, with the numbers behind it.
func (*responses) TooLong(r *compact.Report, most, tools int) Error {
	e := Error{Type: "", Param: "input", Code: "context_length_exceeded"}
	if r.After <= r.Budget {
		e.Code = "array_above_max_length"
		e.Message = fmt.Sprintf("Invalid 'input': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
			most, r.MessagesBefore)
		return e
	}
	e.Message = fmt.Sprintf("Your input exceeds the context window of this model: this model's maximum context length is %d tokens. "+
		"However, your messages resulted in %d tokens. Please reduce the length of the messages.", r.Budget, r.Before)
	return e
}
