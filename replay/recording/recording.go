package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// Recording is one recorded conversation.
type Recording struct {
	// ID is the recorded name, or the file and line.
	ID string
	// File is the name of the file, as the caller gave it.
	File string
	// Model is the name of the model, or "".
	Model string
	// Messages are all messages, the answers included.
	Messages []compact.Message
	// Beside is what the requests have beside their messages.
	compact.Beside
	// Rules are what the API of the recording demands of a list.
	Rules compact.Rules
	// Sent are the lengths of requests that were recorded as such, in the order
	// in which they were sent.
	Sent []int
}

// RequestPoints returns the lengths of all requests of a recording, ascending:
// the prefixes that end after a whole round and before an assistant message, the
// requests recorded as such, and the whole list if it waits for an answer.
func (r *Recording) RequestPoints() []int {
	msgs := r.Messages
	points := slices.Clone(r.Sent)
	for k := 1; k < len(msgs); k++ {
		calling := msgs[k-1].Role == compact.Assistant && len(msgs[k-1].Calls) > 0
		if msgs[k].Role == compact.Assistant && !calling && !msgs[k].Joined && !msgs[k].Empty() {
			points = append(points, k)
		}
	}
	if n := len(msgs); n > 0 && msgs[n-1].Role != compact.Assistant {
		points = append(points, n)
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// decode reads one JSON object that holds messages, as the proxy reads a body. ID is "" if
// the object has no id. The error is a sentence without content.
func decode(raw []byte) (*Recording, error) {
	if !json.Valid(raw) {
		return nil, errors.New("this is not valid JSON")
	}
	if !gjson.ParseBytes(raw).IsObject() {
		return nil, errors.New("this is JSON, but not an object with messages")
	}
	decoded, err := cmp.Or(wire.Detect(raw), wire.Chat).Decode(raw)
	if pass, ok := errors.AsType[*wire.PassError](err); ok { // as every error of Decode is
		return nil, errors.New(pass.Says())
	}
	return &Recording{
		ID: gjson.GetBytes(raw, "id").Str, Model: decoded.Model, Messages: decoded.Conversation.Messages, Rules: decoded.Conversation.Rules,
		Beside: decoded.Beside,
	}, nil
}

// openGroups is how many recordings may grow side by side in one file: those
// of an agent and of its subagents. With one more, the one that grew longest ago
// is closed, so that memory stays bounded.
const openGroups = 16

// grouping joins requests that continue one another: in a capture of traffic
// every turn of a conversation sends the whole list again.
type grouping struct {
	file    string
	yield   func(*Recording, *Unread) bool
	stopped bool         // yield returned false
	open    []*Recording // the one that grew last comes last
}

// take gets the JSON of a conversation or of a request with its place, and reports
// whether the reading goes on.
func (g *grouping) take(raw []byte, at Unread) bool {
	at.File = g.file
	r, err := decode(raw)
	if err != nil {
		at.Reason = err.Error()
		return g.send(nil, &at)
	}
	r.File = g.file
	if r.ID != "" {
		return g.send(r, nil)
	}
	r.ID = filepath.Base(g.file)
	if n := at.Line + at.Element; n > 0 {
		r.ID = fmt.Sprintf("%s:%d", r.ID, n)
	}
	// A list that waits for an answer is a request as sent, and not a conversation with
	// its last answer.
	if last := &r.Messages[len(r.Messages)-1]; last.Role != compact.Assistant || last.Open {
		r = g.add(r)
	}
	return r == nil || g.send(r, nil)
}

// send yields, unless the caller stopped before, and reports whether to go on.
func (g *grouping) send(r *Recording, bad *Unread) bool {
	g.stopped = g.stopped || !g.yield(r, bad)
	return !g.stopped
}

// add takes a request, and returns the recording that is closed for it, or
// nil.
func (g *grouping) add(r *Recording) *Recording {
	r.Sent = []int{len(r.Messages)}
	// The newest first: a conversation goes on from its longest request.
	for i, o := range slices.Backward(g.open) {
		switch {
		case startsWith(r.Messages, o.Messages):
			r.ID, r.Sent = o.ID, append(o.Sent, len(r.Messages))
		case startsWith(o.Messages, r.Messages): // sent again
			o.Sent = append(o.Sent, len(r.Messages))
			r = o
		default:
			continue
		}
		g.open = slices.Delete(g.open, i, i+1)
		break
	}
	g.open = append(g.open, r)
	if len(g.open) <= openGroups {
		return nil
	}
	oldest := g.open[0]
	g.open = slices.Delete(g.open, 0, 1)
	return oldest
}

// startsWith reports whether a list begins with all messages of another.
func startsWith(msgs, start []compact.Message) bool {
	same := func(a, b compact.Message) bool { return a.Equal(&b) }
	return len(start) <= len(msgs) && slices.EqualFunc(msgs[:len(start)], start, same)
}
