package record

import (
	"slices"

	"laconic/compact"
)

// openGroups is how many conversations may grow side by side in one file: those
// of an agent and of its subagents. With one more, the one that grew longest ago
// is closed, so that memory stays bounded.
const openGroups = 16

// grouping joins requests that continue one another: in a capture of traffic
// every turn of a conversation sends the whole list again.
type grouping struct {
	file    string
	yield   func(*Conversation, *Unread) bool
	stopped bool            // yield returned false
	open    []*Conversation // the one that grew last comes last
}

func (g *grouping) take(raw []byte, at Unread) bool {
	at.File = g.file
	if at.Reason != "" {
		return g.send(nil, &at)
	}
	r, err := decode(raw)
	if err != nil {
		at.Reason = err.Error()
		return g.send(nil, &at)
	}
	r.File = g.file
	if r.ID != "" {
		return g.send(r, nil)
	}
	r.ID = at.name()
	if r.request() {
		r = g.add(r)
	}
	return r == nil || g.send(r, nil)
}

// send yields, unless the caller stopped before, and reports whether to go on.
func (g *grouping) send(r *Conversation, bad *Unread) bool {
	g.stopped = g.stopped || !g.yield(r, bad)
	return !g.stopped
}

// add takes a request, and returns the conversation that is closed for it, or
// nil.
func (g *grouping) add(r *Conversation) *Conversation {
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
	if len(msgs) < len(start) {
		return false
	}
	// From the end, where lists differ most often.
	for i := len(start) - 1; i >= 0; i-- {
		if !msgs[i].Equal(&start[i]) {
			return false
		}
	}
	return true
}
