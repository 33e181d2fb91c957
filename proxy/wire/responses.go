package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/overflow"
)

// responses is the API of responses.
type responses struct{ chat }

// Responses is the API of responses, whose history is a list of items. Its error
// envelope is that of the chat API.
var Responses Wire = responses{}

func (responses) Name() string { return "responses" }

// responsesEvents are the events of a stream. Those that open one echo the
// instructions and the tools.
var responsesEvents = overflow.Events{Opening: []string{"response.created", "response.queued", "response.in_progress"}}

func (responses) FirstEvent(start []byte, whole bool) (overflow.Begins, []byte) {
	return overflow.FirstEvent(start, whole, responsesEvents)
}

func (responses) Refusal(status int, text []byte) Refusal {
	return refusalOf(status, text, "output_tokens")
}

// ends are the events that end a stream.
var ends = []string{"response.completed", "response.incomplete", "response.failed", "error"}

func (responses) End(a Answer) End {
	usage := responsesUsage(a.Tail)
	if usage == nil {
		usage = responsesUsage(a.Head) // some put it before the items
	}
	e := End{Usage: usage}
	if !a.Stream {
		e.Generated = usage != nil || bytes.Contains(a.Head, []byte(`"output"`))
		return e
	}
	kind := lastEventType(a.Tail)
	e.Done = slices.Contains(ends, kind) || done(a.Tail)
	e.Generated = e.Done && kind != "response.failed" && kind != "error"
	switch {
	case e.Done && kind == "response.incomplete" && usage != nil && usage.Prompt > 0 && usage.Completion == 0:
		e.Flaw = BeforeOutput
	case e.Done:
	case endsInEvent(a.Tail):
		e.Flaw = HalfEvent
	default:
		e.Flaw = WithoutDone
	}
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

// responsesUsage returns the last usage object in a part of an answer, nil if there
// is none.
func responsesUsage(text []byte) *Usage {
	for o := range usagesIn(text) {
		count := func(path string) int {
			n := o.Get(path)
			if n.Type != gjson.Number || n.Num < 0 {
				return 0
			}
			return int(min(n.Num, 1<<31-1))
		}
		if o.Get("input_tokens").Type != gjson.Number {
			continue
		}
		return &Usage{
			Prompt: count("input_tokens"), Completion: count("output_tokens"), Cached: count("input_tokens_details.cached_tokens"),
		}
	}
	return nil
}

// AnsweredBy finds the model near the start of an answer: events that open a stream
// name it before they echo the request, and a body does before its items.
func (responses) AnsweredBy(a Answer) string {
	if !a.Stream {
		return wholeModel(a)
	}
	_, data, ok := bytes.Cut(a.Head, []byte("data:"))
	if !ok {
		return ""
	}
	// What is there of it is not valid as a whole, and gjson reads what comes before.
	model := gjson.GetBytes(data, "response.model")
	if model.Type != gjson.String || strings.Contains(model.Raw, `\`) {
		return ""
	}
	return strings.Clone(model.String())
}

// TooLong uses OpenAI's own sentence, with the numbers behind it.
func (responses) TooLong(r *compact.Report, most, tools int) Error {
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
