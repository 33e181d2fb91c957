package strict

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Reply is the answer to one request.
type Reply struct {
	Text  string
	Calls []Call // an empty ID gets one
}

// fields is a JSON object.
type fields map[string]any

// turn is an answer before it is written as an API wants it.
type turn struct {
	*Request
	Reply
	number     int // of the answer
	completion int // tokens of it
	cached     int // tokens of the prompt that came from the cache
	thinking   *Thought
}

// silent reports whether an answer has no text, but calls.
func (t *turn) silent() bool { return t.Text == "" && t.Calls != nil }

// event is one event of a stream. The chat API does not name them.
type event struct {
	name string
	data any
}

// api is how the upstream reads and answers the requests of one API.
type api struct {
	read   func(*Upstream, []byte) (*Request, *Refusal)
	callID string // begins the id of a call
	// whole and stream write an answer.
	whole  func(*turn) fields
	stream func(*turn) []event
}

// answer replies to a request.
func (u *Upstream) answer(w http.ResponseWriter, a *api, req *Request) {
	u.mu.Lock()
	script := u.o.Reply
	u.mu.Unlock()
	t := &turn{Request: req, Reply: script(req)}
	t.completion = u.o.Count(Message{Role: "assistant", Text: t.Text, Calls: t.Calls})
	u.mu.Lock()
	u.answers++
	t.number, t.cached = u.answers, u.cache.Serve(req)
	u.mu.Unlock()
	t.Calls = slices.Clone(t.Calls) // the script may use the same slice again
	for i := range t.Calls {
		if t.Calls[i].ID == "" {
			t.Calls[i].ID = fmt.Sprintf("%s_strict%07d%03d", a.callID, t.number, i)
		}
	}
	if u.o.Thinks != nil {
		t.thinking = u.o.Thinks(req)
	}
	if !req.Stream {
		send(w, http.StatusOK, marshal(a.whole(t)))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flusher := http.NewResponseController(w)
	for _, e := range a.stream(t) {
		text := ""
		if e.name != "" {
			text = "event: " + e.name + "\n"
		}
		data, raw := e.data.(string)
		if !raw {
			data = string(marshal(e.data))
		}
		if _, err := fmt.Fprintf(w, "%sdata: %s\n\n", text, data); err != nil || flusher.Flush() != nil {
			return
		}
	}
}

// words cuts a text into the pieces that a model would send.
func words(text string) []string {
	return slices.DeleteFunc(strings.SplitAfter(text, " "), func(word string) bool { return word == "" })
}

// with returns a copy of an object with more in it.
func (f fields) with(more fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}
