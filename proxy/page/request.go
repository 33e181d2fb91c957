package page

import (
	"slices"
	"sync"
	"time"

	"laconic/compact"
	"laconic/proxy"
)

// request is what is kept of one request. It holds no content. Once it has left the
// ring it becomes another one, so that few are made.
type request struct {
	id      string
	began   time.Time
	tenant  *tenant
	conv    *conversation     // nil: it is not of a conversation that could be read
	rewrite proxy.RewriteInfo // without an ID: it was not measured
	pass    *proxy.PassInfo
	reply   proxy.ReplyInfo // without an ID: it is not over; Rewrite and Pass are those above
	details *details
	cost    cost
	room    int // in the ring, in bytes; 0: it is not over
	version uint64
}

// details are what became of each message.
type details struct {
	Fixed    int             `json:"fixed"`
	Messages []message       `json:"list"`
	Edits    []edit          `json:"edits"`
	More     int             `json:"more_edits,omitempty"` // that are not listed
	Epochs   []compact.Epoch `json:"epochs_of"`
	Slot     *slot           `json:"slot,omitempty"`
	Shadow   bool            `json:"shadow,omitempty"`
	Again    bool            `json:"again,omitempty"`
	Cut      int             `json:"more_messages,omitempty"` // that are not listed
}

// A message is what became of one message of the client, or one that was added. It
// holds no pointer, so the collector never looks into a list of them.
type message struct {
	Role  role  `json:"role"`
	State state `json:"state"`
	// Origin is its index in the client's list, -1 for one that was added.
	Origin int32 `json:"origin"`
	// Follows is the index of the message that an added one follows.
	Follows int32 `json:"follows,omitempty"`
	Parts   int32 `json:"parts,omitempty"`
	Media   int32 `json:"media,omitempty"`
	Calls   int32 `json:"calls,omitempty"`
	Bytes   int32 `json:"bytes"`
	Before  int32 `json:"before"` // tokens
	After   int32 `json:"after"`
}

// A state is what became of a message.
type state uint8

const (
	left state = iota
	kept
	changed
	added
)

// MarshalText returns the state in a word.
func (s state) MarshalText() ([]byte, error) {
	return []byte([...]string{"left", "kept", "changed", "added"}[s]), nil
}

// A role is one of [compact.Role].
type role compact.Role

// MarshalText returns the name of the role.
func (r role) MarshalText() ([]byte, error) { return []byte(compact.Role(r).String()), nil }

// An edit is a [compact.Edit] without its text and its id, or several removals.
type edit struct {
	Op     compact.Op `json:"op"`
	Stage  string     `json:"stage"`
	Why    string     `json:"why"`
	Origin int        `json:"origin"`
	Count  int        `json:"count"` // of messages; their Saved is a sum
	Saved  int        `json:"saved"`
	Epoch  int        `json:"epoch,omitempty"`
	Last   bool       `json:"last,omitempty"`
}

// A slot is the record that stands for what left.
type slot struct {
	At    int    `json:"at"` // index in the client's list of the message that it follows; -1: it is one of its own
	Stage string `json:"stage"`
	Room  int    `json:"room"` // what it is charged, in tokens
	Sent  int    `json:"sent"` // what its text costs
	Spans []span `json:"spans"`
}

type span struct {
	Messages int  `json:"messages"` // that its text says it stands for
	Room     int  `json:"room"`
	Sent     int  `json:"sent"`
	Summary  bool `json:"summary,omitempty"` // a model wrote it
}

// Bounds of what is kept of one request.
const (
	mostMessages = 4096
	mostEdits    = 2048
)

// size returns about how many bytes a request takes.
func (r *request) size() int {
	n := 2000
	if d := r.details; d != nil {
		n += cap(d.Messages)*36 + cap(d.Edits)*96 + len(d.Epochs)*80
	}
	return n
}

// spare are details that nobody needs any more, whose lists are used again.
var spare = sync.Pool{New: func() any { return new(details) }}

// letGo makes details spare, unless their lists are long.
func (d *details) letGo() {
	if d != nil && cap(d.Messages) <= mostMessages/4 && cap(d.Edits) <= mostEdits/4 {
		spare.Put(d)
	}
}

// detailsOf returns what a plan makes of each message.
func detailsOf(i *proxy.PlanInfo) *details {
	d, _ := spare.Get().(*details)
	d.read(i)
	return d
}

// read reads a plan, in one pass over the messages before and after. Most of what
// they cost is known from the plan.
func (d *details) read(i *proxy.PlanInfo) {
	*d = details{
		Messages: d.Messages[:0], Edits: d.Edits[:0], Fixed: i.Conversation.Fixed, Epochs: i.Plan.Epochs, Shadow: i.Shadow, Again: i.Again,
	}
	in, sent := i.Conversation.Messages, i.Sent
	same := len(in) > 0 && len(in) == len(sent) && &in[0] == &sent[0]
	d.Cut = max(0, len(in)-mostMessages)
	d.Messages = slices.Grow(d.Messages, len(in)-d.Cut+1)
	from := d.Cut // the newest are listed
	before, after := i.Costs()
	d.Messages = d.Messages[:len(in)-from]
	unchanged := same || sent == nil
	for n := from; n < len(in); n++ {
		m := &d.Messages[n-from]
		m.set(&in[n])
		if m.Origin = int32(n); n < len(before) {
			m.Before = int32(before[n])
		} else {
			m.Before = int32(compact.Cost(i.Counter, &in[n]))
		}
		if unchanged {
			m.State, m.After = kept, m.Before
		}
	}
	if s := i.Plan.Slot; s != nil {
		d.Slot = &slot{At: -1, Stage: i.Plan.SlotStage(), Room: s.Size, Spans: make([]span, len(s.Spans))}
		if s.At >= 0 {
			d.Slot.At = firstUser(in)
		}
		sent := i.Record()
		for n := range s.Spans {
			one := span{Room: s.Spans[n].Size}
			if n < len(sent) {
				one.Messages, one.Sent, one.Summary = sent[n].Messages, compact.CostText(i.Counter, sent[n].Text), sent[n].Summary
			}
			d.Slot.Spans[n] = one
			d.Slot.Sent += one.Sent
		}
	}
	if !same {
		d.follow(sent, from, after, i.Counter)
	}
	for e := range i.Plan.Made() {
		d.edit(&e)
	}
}

// edit notes an edit. Removals of messages in succession are one.
func (d *details) edit(e *compact.Edit) {
	n := len(d.Edits)
	if n > 0 && e.Op == compact.OpRemove {
		last := &d.Edits[n-1]
		if last.Op == e.Op && last.Stage == e.Stage && last.Why == e.Why && last.Epoch == e.Epoch && last.Origin+last.Count == e.Origin {
			last.Count += e.Messages()
			last.Saved += e.Saved
			return
		}
	}
	if n == mostEdits {
		d.More++
		return
	}
	d.Edits = append(d.Edits, edit{
		Op: e.Op, Stage: e.Stage, Why: e.Why, Origin: e.Origin, Count: e.Messages(), Saved: e.Saved, Epoch: e.Epoch, Last: e.Last,
	})
}

// follow notes what became of the messages from an index on. costs are what they
// cost now, as far as that is known. What the record costs is not a part of the
// message that it follows.
func (d *details) follow(sent []compact.Message, from int, costs []int, c compact.Counter) {
	before := int32(-1)
	for n := range sent {
		m := &sent[n]
		if m.Origin < 0 {
			if d.Slot != nil && d.Slot.At < 0 && !m.Role.Result() {
				continue // the record, in a message of its own
			}
			var one message
			one.set(m)
			one.State, one.Origin, one.Follows, one.After = added, -1, before, int32(compact.Cost(c, m))
			d.Messages = append(d.Messages, one)
			continue
		}
		before = int32(m.Origin)
		at := m.Origin - from
		if at < 0 || at >= len(d.Messages) {
			continue
		}
		was := &d.Messages[at]
		was.State, was.After = kept, was.Before
		switch {
		case !m.Edited:
		case m.Origin < len(costs):
			was.State, was.After = changed, int32(costs[m.Origin])
		default:
			was.State, was.After = changed, int32(compact.Cost(c, m))
			if d.Slot != nil && m.Origin == d.Slot.At {
				was.After -= int32(d.Slot.Sent)
			}
		}
	}
}

// set makes r the row of a message, of which nothing else is known.
func (r *message) set(m *compact.Message) {
	n, media := m.Reasoning.Len()+m.Refusal.Len(), int32(0)
	for i := range m.Parts {
		p := &m.Parts[i]
		n += p.Text.Len()
		switch p.Kind {
		case compact.KindImage, compact.KindAudio, compact.KindVideo, compact.KindFile:
			media++
		}
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		n += len(c.Name) + c.Arguments.Len()
	}
	*r = message{Role: role(m.Role), Parts: int32(len(m.Parts)), Media: media, Calls: int32(len(m.Calls)), Bytes: int32(min(n, 1<<31-1))}
}

func firstUser(msgs []compact.Message) int {
	for i := range msgs {
		if msgs[i].Role == compact.User {
			return i
		}
	}
	return -1
}
