package record

import (
	"slices"

	"laconic/compact"
)

// openGroups is how many conversations may grow side by side in one file: an
// agent and the agents it sent out. Beyond it the one that grew longest ago is
// taken as finished, so that memory stays bounded.
const openGroups = 16

// grouping puts requests together that go on from one another: in a capture of
// traffic every turn of a conversation sends the whole list again.
type grouping struct {
	file  string
	yield func(*Conversation, *Unread) error
	open  []*Conversation // the one that grew last comes last
}

// record takes one JSON object. at is its place, for errors.
func (g *grouping) record(raw []byte, name string, at Unread) error {
	r, named, err := decode(raw)
	if err != nil {
		at.Reason = err.Error()
		return g.bad(at)
	}
	r.File = g.file
	if named {
		return g.yield(r, nil)
	}
	r.ID = name
	if !r.request() {
		return g.yield(r, nil)
	}
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
	if len(g.open) > openGroups {
		oldest := g.open[0]
		g.open = slices.Delete(g.open, 0, 1)
		return g.yield(oldest, nil)
	}
	return nil
}

func (g *grouping) bad(u Unread) error {
	u.File = g.file
	return g.yield(nil, &u)
}

// flush yields the conversations that nothing can continue any more.
func (g *grouping) flush() error {
	for _, r := range g.open {
		if err := g.yield(r, nil); err != nil {
			return err
		}
	}
	g.open = nil
	return nil
}

// startsWith reports whether a list begins with all messages of another.
func startsWith(msgs, start []compact.Message) bool {
	if len(msgs) < len(start) {
		return false
	}
	// From the end: what differs most often is what came last.
	for i := len(start) - 1; i >= 0; i-- {
		if !msgs[i].Equal(&start[i]) {
			return false
		}
	}
	return true
}
