package wire

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"
)

// responses is the API of responses, whose history is a list of items. Its error
// envelope is that of the chat API.
type responses struct{ chat }

// Responses is the API of responses, as OpenAI and all who are compatible with it
// speak it.
var Responses Wire = &responses{chat{
	api: api{
		name: "responses", model: "response.model",
		// Those that open a stream echo the instructions and the tools.
		opening: []string{"response.created", "response.queued", "response.in_progress"},
	},
	list: "input", exceeds: "Your input exceeds the context window of this model. ",
}}

// ends are the events that end a stream.
var ends = []string{"response.completed", "response.incomplete", "response.failed", "error"}

func (w *responses) End(a Answer) End {
	e := End{Usage: w.usage(a)}
	if !a.Stream {
		e.Generated = e.Usage != nil || bytes.Contains(a.Head, []byte(`"output"`))
		return e
	}
	kind, stop := lastEventType(a.Tail), ""
	if kind == "response.incomplete" {
		stop = "length"
	}
	e.Done = slices.Contains(ends, kind) || bytes.HasPrefix(lastEvent(a.Tail), []byte("[DONE]"))
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
