// Package view says what became of each message of a request, as data and in a
// browser. The page of the admin listener shows requests by it as they come, and the
// report of a replay those of one recorded conversation.
//
// It promises:
//
//   - one pass: a request is read in one pass over its messages before and after.
//   - no content: a [Request] has roles, sizes, costs and reasons. Texts are a
//     [Comparison]'s alone, each of them once.
//   - never markup: the scripts make text nodes and attributes of what they are given.
package view

import "laconic/compact"

// Request is what became of each message of a request.
type Request struct {
	Fixed int `json:"fixed"`
	// Messages are as the client sent them; Cut more, the oldest, are not listed.
	Messages []Message       `json:"list,omitempty"`
	Cut      int             `json:"more_messages,omitempty"`
	Fates    []Fate          `json:"fates"`
	Edits    []Edit          `json:"edits"`
	More     int             `json:"more_edits,omitempty"` // that are not listed
	Epochs   []compact.Epoch `json:"epochs_of"`
	Slot     *Slot           `json:"slot,omitempty"`
}

// Message is one message as the client sent it. It holds no pointer, so the collector
// never looks into a list of them.
type Message struct {
	Role   compact.Role `json:"role"`
	Media  int32        `json:"media,omitempty"`
	Calls  int32        `json:"calls,omitempty"`
	Bytes  int32        `json:"bytes"`
	Before int32        `json:"before"` // tokens
}

// Fate is what became of a run of messages, or one message that was added.
type Fate struct {
	State State        `json:"state"`
	Role  compact.Role `json:"role,omitempty"` // of one that was added
	// From is the index in the client's list, of the first of Count messages. For one
	// that was added it is the message that it follows, -1 at the beginning.
	From  int32 `json:"from"`
	Count int32 `json:"count"`
	// At is the index of the first in the list that is sent.
	At    int32 `json:"at,omitempty"`
	After int32 `json:"after,omitempty"` // tokens of one that was changed or added
	Bytes int32 `json:"bytes,omitempty"` // of one that was added
}

// State is what became of a message.
type State uint8

// The states.
const (
	Left State = iota
	Kept
	Changed
	Added
)

// MarshalText returns the state in a word.
func (s State) MarshalText() ([]byte, error) {
	return []byte([...]string{"left", "kept", "changed", "added"}[s]), nil
}

// Edit is a [compact.Edit] without its text and its id.
type Edit struct {
	Op     compact.Op `json:"op"`
	Stage  string     `json:"stage"`
	Why    string     `json:"why"`
	Origin int        `json:"origin"`
	Count  int        `json:"count"` // of messages that leave; 1 for any other
	Saved  int        `json:"saved"`
	Epoch  int        `json:"epoch,omitempty"`
}

// Slot is the record that stands for what left.
type Slot struct {
	At    int    `json:"at"` // index in the client's list of the message that it follows; -1: it is one of its own
	In    int    `json:"in"` // index in the list that is sent of the message that holds it
	Stage string `json:"stage"`
	Room  int    `json:"room"` // what it is charged, in tokens
	Sent  int    `json:"sent"` // what its text costs
	Spans []Span `json:"spans"`
}

// Span is one part of the record.
type Span struct {
	Messages int  `json:"messages"` // that its text says it stands for
	Room     int  `json:"room"`
	Sent     int  `json:"sent"`
	Summary  bool `json:"summary,omitempty"` // a model wrote it
}

// Planned is a plan and the lists before and after it.
type Planned struct {
	Conversation compact.Conversation
	Sent         []compact.Message // nil: nothing is sent
	Plan         *compact.Plan
	Counter      compact.Counter
	// Before and After are what messages cost, as far as the plan knows it.
	Before, After []int
	Texts         []string // summaries in the slot; "" and those that are missing: the digest
}

// Bounds of what is listed of one request.
const (
	MostMessages = 4096
	mostEdits    = 2048
)

// Size returns about how many bytes a request takes.
func (r *Request) Size() int {
	return cap(r.Messages)*24 + cap(r.Fates)*28 + cap(r.Edits)*96 + len(r.Epochs)*80
}

// Of returns what a plan makes of each message.
func Of(p *Planned) *Request {
	in := p.Conversation.Messages
	r := &Request{Fixed: p.Conversation.Fixed, Epochs: p.Plan.Epochs, Cut: max(0, len(in)-MostMessages)}
	r.Messages = make([]Message, len(in)-r.Cut)
	for i := range r.Messages { // the newest are listed
		n := i + r.Cut
		r.Messages[i] = messageOf(&in[n])
		if n < len(p.Before) {
			r.Messages[i].Before = int32(p.Before[n])
		} else {
			r.Messages[i].Before = int32(compact.Cost(p.Counter, &in[n]))
		}
	}
	r.slot(p)
	if p.Sent == nil && len(r.Messages) > 0 {
		r.Fates = []Fate{{State: Kept, From: int32(r.Cut), Count: int32(len(r.Messages)), At: int32(r.Cut)}}
	} else {
		r.follow(p)
	}
	made := p.Plan.Made()
	r.More = max(0, len(made)-mostEdits)
	for _, e := range made[:len(made)-r.More] {
		r.Edits = append(r.Edits, Edit{
			Op: e.Op, Stage: e.Stage, Why: e.Why, Origin: e.Origin, Count: e.Messages(), Saved: e.Saved, Epoch: e.Epoch,
		})
	}
	return r
}

// slot notes the record.
func (r *Request) slot(p *Planned) {
	s := p.Plan.Slot
	if s == nil {
		return
	}
	r.Slot = &Slot{At: s.Host(), Stage: s.Stage, Room: s.Size, Spans: make([]Span, len(s.Spans))}
	r.Slot.In = max(0, r.Slot.At)
	for n, text := range s.Texts(p.Texts) {
		one := Span{Messages: s.Told(n), Room: s.Spans[n].Size, Sent: compact.CostText(p.Counter, text), Summary: n < len(p.Texts) && p.Texts[n] != ""}
		if one.Summary {
			one.Messages = 0
			for range s.Messages(n) {
				one.Messages++
			}
		}
		r.Slot.Spans[n] = one
		r.Slot.Sent += one.Sent
	}
}

// follow notes where each message is in the list that is sent. What the record costs
// is not a part of the message that it follows.
func (r *Request) follow(p *Planned) {
	at := make([]int32, len(r.Messages)) // one more than the index; 0: it left
	before := int32(-1)
	for n := range p.Sent {
		m := &p.Sent[n]
		if m.Origin < 0 {
			if r.Slot != nil && r.Slot.At < 0 && !m.Role.Result() { // the record, in a message of its own
				r.Slot.In = n
				continue
			}
			one := messageOf(m)
			r.Fates = append(r.Fates, Fate{State: Added, Role: one.Role, From: before, Count: 1, At: int32(n), After: int32(compact.Cost(p.Counter, m)), Bytes: one.Bytes})
			continue
		}
		before = int32(m.Origin)
		if i := m.Origin - r.Cut; i >= 0 && i < len(at) {
			at[i] = int32(n) + 1
		}
		if r.Slot != nil && m.Origin == r.Slot.At {
			r.Slot.In = n
		}
	}
	for i := range at {
		f := Fate{From: int32(i + r.Cut), Count: 1}
		if at[i] > 0 {
			f.State, f.At = Kept, at[i]-1
			if m := &p.Sent[f.At]; m.Edited {
				f.State, f.After = Changed, r.costs(p, m)
			}
		}
		if n := len(r.Fates); n > 0 && f.State != Changed {
			last := &r.Fates[n-1]
			if last.State == f.State && last.From+last.Count == f.From && (f.State == Left || last.At+last.Count == f.At) {
				last.Count++
				continue
			}
		}
		r.Fates = append(r.Fates, f)
	}
}

// costs returns what a message of the client costs as it is sent, without the record.
func (r *Request) costs(p *Planned, m *compact.Message) int32 {
	if m.Origin < len(p.After) {
		return int32(p.After[m.Origin])
	}
	n := compact.Cost(p.Counter, m)
	if r.Slot != nil && m.Origin == r.Slot.At {
		n -= r.Slot.Sent
	}
	return int32(n)
}

// messageOf returns a message without its cost.
func messageOf(m *compact.Message) Message {
	n, media := m.Reasoning.Len()+m.Refusal.Len(), int32(0)
	for i := range m.Parts {
		p := &m.Parts[i]
		n += p.Text.Len()
		if p.Kind.Media() {
			media++
		}
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		n += len(c.Name) + c.Arguments.Len()
	}
	return Message{Role: m.Role, Media: media, Calls: int32(len(m.Calls)), Bytes: int32(min(n, 1<<31-1))}
}

// Point is one request in the course of a conversation, in tokens.
type Point struct {
	ID     string `json:"id,omitempty"`
	Before int    `json:"before"`
	Sent   int    `json:"sent"`
	Budget int    `json:"budget"`
	Cached int    `json:"cached"`          // -1: the answer did not say
	Epoch  bool   `json:"epoch,omitempty"` // one began with it
	State  string `json:"state,omitempty"`
	Unsent bool   `json:"unsent,omitempty"` // no upstream got it
	// Trigger is where an epoch starts, and Land where it stops; 0: it is not known.
	Trigger int `json:"trigger,omitempty"`
	Land    int `json:"land,omitempty"`
}

// Stages returns what each stage and the repair did, and what is left of what came
// less what was sent: not 0 where a policy counts otherwise than the upstream.
func Stages(p *compact.Report) (all []compact.StageReport, other int) {
	all, other = p.Did(), p.Before-p.After
	for _, s := range all {
		other -= s.Saved
	}
	return all, other
}
