package wire

import (
	"bytes"

	"laconic/proxy/overflow"
)

// messages is the API of messages.
type messages struct{ api }

// Messages is the API of messages, as Anthropic and all who are compatible with it
// speak it.
var Messages Wire = &messages{api{
	name: "messages", completion: "output_tokens", model: "message.model",
	// The first events say who answers and what the prompt is taken to cost.
	events: overflow.Events{Generated: []string{"content"}, Opening: []string{"message_start", "ping"}},
}}

func (w *messages) End(a Answer) End {
	stop := bytes.Contains(lastEvent(a.Tail), []byte(`message_stop`))
	e := End{Usage: messagesUsage(a), Done: a.Stream && stop}
	e.Generated = !failed(a.Tail) && (stop || bytes.Contains(a.Tail, []byte(`"stop_reason"`)))
	e.Flaw = a.flaw(lastString("stop_reason", a.Tail), e.Usage, e.Done, !bytes.Contains(a.Tail, []byte("content_block")) && !failed(a.Tail))
	return e
}

// messagesUsage reads what an answer cost: a stream states the prompt in its first
// event and the rest in its last. What the last one states of the prompt is surer:
// Ollama's first is a guess. Nil: it states nothing.
func messagesUsage(a Answer) *Usage {
	var u messageUsage
	if a.Stream {
		u.read(a.Head)
	}
	u.read(a.Tail)
	if !u.found {
		return nil
	}
	return &Usage{Prompt: u.input + u.written + u.cached, Completion: u.output, Cached: u.cached}
}

// messageUsage is a usage object. Tokens that are read from a cache, or written to
// one, are not among those of the input.
type messageUsage struct {
	input, written, cached, output int
	found                          bool
}

// read reads the last usage object in a part of an answer. What it does not state, or
// as 0, stays.
func (u *messageUsage) read(text []byte) {
	for o := range usagesIn(text) {
		for key, to := range map[string]*int{
			"input_tokens": &u.input, "cache_creation_input_tokens": &u.written, "cache_read_input_tokens": &u.cached, "output_tokens": &u.output,
		} {
			if n := count(o, key); n > 0 {
				*to, u.found = n, true
			}
		}
		return
	}
}
