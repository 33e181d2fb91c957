package wire

import (
	"bytes"
	"iter"
	"strings"

	"github.com/tidwall/gjson"

	"laconic/proxy/overflow"
)

// messages is the API of messages.
type messages struct{}

// Messages is the API of messages, as Anthropic and all who are compatible with it
// speak it.
var Messages Wire = messages{}

func (messages) Name() string { return "messages" }

// messagesEvents are the events of a stream. The first say who answers and what the
// prompt is taken to cost.
var messagesEvents = overflow.Events{Generated: []string{"content"}, Opening: []string{"message_start", "ping"}}

func (messages) FirstEvent(start []byte, whole bool) (overflow.Begins, []byte) {
	return overflow.FirstEvent(start, whole, messagesEvents)
}

func (messages) Refusal(status int, text []byte) Refusal {
	return refusalOf(status, text, "output_tokens")
}

func (messages) End(a Answer) End {
	e := End{Usage: messagesUsage(a), Generated: answersMessage(a)}
	e.Done = a.Stream && bytes.Contains(lastEvent(a.Tail), []byte(`message_stop`))
	stop := lastString("stop_reason", a.Tail)
	switch {
	case stop == "model_context_window_exceeded":
		e.Flaw = AtWindow
	case stop == "max_tokens" && e.Usage != nil && e.Usage.Prompt > 0 && e.Usage.Completion == 0:
		e.Flaw = BeforeOutput
	case a.Stream && !e.Done && endsInEvent(a.Tail):
		e.Flaw = HalfEvent
	case a.Stream && !e.Done:
		e.Flaw = WithoutDone
	case a.Stream && a.Whole && stop == "" && !bytes.Contains(a.Tail, []byte("content_block")) && !failed(a.Tail):
		e.Flaw = Empty
	}
	return e
}

// lastEvent returns the last event of a stream, as far as it is there.
func lastEvent(text []byte) []byte {
	return text[max(0, bytes.LastIndex(text, []byte("data:"))):]
}

// failed reports whether a text says that an answer failed.
func failed(text []byte) bool {
	return bytes.Contains(text, []byte(`"error":{`)) || bytes.Contains(text, []byte(`"error": {`))
}

// answersMessage reports whether an answer is one, and not an error that came behind
// the first event.
func answersMessage(a Answer) bool {
	return !failed(a.Tail) && (bytes.Contains(a.Tail, []byte(`"stop_reason"`)) || bytes.Contains(a.Tail, []byte(`message_stop`)))
}

// messagesUsage reads what an answer cost: a stream states the prompt in its first
// event and the rest in its last. What the last one states of the prompt is surer:
// Ollama's first is a guess. Nil: it states nothing.
func messagesUsage(a Answer) *Usage {
	var u messageUsage
	if a.Stream {
		u.read(lastUsage(a.Head))
	}
	u.read(lastUsage(a.Tail))
	if !u.found {
		return nil
	}
	return &Usage{Prompt: u.input + u.written + u.cached, Completion: u.output, Cached: u.cached}
}

// lastUsage returns the last usage object in a part of an answer.
func lastUsage(text []byte) gjson.Result {
	for v := range usagesIn(text) {
		return v
	}
	return gjson.Result{}
}

// usagesIn returns the usage objects in a part of an answer, the last one first.
func usagesIn(text []byte) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		for value := range valuesOf("usage", text) {
			s := scanner{src: value}
			if s.space(); s.peek() == '{' && s.skip() && !yield(gjson.ParseBytes(value[:s.at])) {
				return
			}
		}
	}
}

// messageUsage is a usage object. Tokens that are read from a cache, or written to
// one, are not among those of the input.
type messageUsage struct {
	input, written, cached, output int
	found                          bool
}

func (u *messageUsage) read(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	set := func(to *int, key string) {
		if n := v.Get(key); n.Type == gjson.Number && n.Int() > 0 {
			*to, u.found = int(min(n.Int(), 1<<31-1)), true
		}
	}
	set(&u.input, "input_tokens")
	set(&u.written, "cache_creation_input_tokens")
	set(&u.cached, "cache_read_input_tokens")
	set(&u.output, "output_tokens")
}

// AnsweredBy reads the first event of a stream, or a whole answer.
func (messages) AnsweredBy(a Answer) string {
	if !a.Stream {
		return wholeModel(a)
	}
	_, data, found := bytes.Cut(a.Head, []byte("data:"))
	if !found {
		return ""
	}
	data, _, _ = bytes.Cut(data, []byte("\n"))
	return strings.Clone(gjson.GetBytes(data, "message.model").String())
}
