package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"laconic/compact"
)

// Show chooses a conversation to show before and after.
type Show struct {
	// Conversation is its ID, the first of that name; "": the one with the
	// largest peak.
	Conversation string
	// PolicyFor returns the name of the policy for a model; nil, or the name of
	// none that is measured: the first policy.
	PolicyFor func(model string) string
}

// Shown is one conversation before and after one policy, request by request. It
// is the only part of a Result that holds texts of a conversation.
type Shown struct {
	File, Conversation, Model string
	// Policy and Budget are the names in the tables, Tokens is the budget.
	Policy, Budget string
	Tokens         int
	// Fixed is the cost of everything but the messages.
	Fixed int
	// Cost is the bill relative to sending everything.
	Cost float64
	// Epochs is their number.
	Epochs int
	// Messages are as the client sent them.
	Messages []ShownMessage
	Requests []ShownRequest
}

// ShownMessage is what a model reads of a message.
type ShownMessage struct {
	Role string
	// About names the tools that are called, or the one that answers.
	About  string
	Tokens int
	Pieces []Piece
}

// Piece is one text of a message.
type Piece struct {
	// Kind is "" for text; otherwise it says what the text is. A picture, a sound
	// or a file has its size here, and no text.
	Kind, Text string
	// Same is set if the client sent the same piece.
	Same bool
	// Record is set if the piece stands for messages that left. It begins with
	// Known bytes of the piece that was in the request before.
	Record bool
	Known  int
}

// ShownRequest is one request as the client sent it and as the upstream receives
// it. Costs are tokens.
type ShownRequest struct {
	// Messages and Sent are how many messages the client sent and the upstream
	// receives; Full and Tokens are what they cost.
	Messages, Sent int
	Full, Tokens   int
	// Cached is what the provider's prompt cache serves of Tokens.
	Cached int
	// Trigger is the cost above which an epoch starts, Land where it stops; 0 if
	// the policy counts in tokens of its own.
	Trigger, Land int
	// Epochs are those that began with this request. First is the number of the
	// first of them among all of the conversation, from 1.
	Epochs []compact.Epoch
	First  int
	// Stages are what these epochs did.
	Stages []compact.StageReport
	// Charged is what the record is charged, whatever its text; 0: there is none.
	Charged int
	// Rows are all messages, in the order of the upstream's list; nil if the
	// request is the one before it, as it was sent, with the client's new messages
	// at the end.
	Rows []ShownRow
}

// Fate says what became of messages.
type Fate uint8

// The fates.
const (
	Unchanged Fate = iota // sent as they came
	Edited
	Removed
	Added // the client did not send it
	Known // as in the request before, whatever that was
)

// ShownRow is a run of messages with one fate.
type ShownRow struct {
	Fate Fate
	// [From, To) are the client's messages; To is From for one that is added.
	From, To int
	// Full is what they cost as the client sent them, Tokens what is sent instead.
	Full, Tokens int
	// Sent is what is sent for an edited or added message.
	Sent *ShownMessage
	// Edits are the reasons.
	Edits []compact.Edit
	// Of a run that is known, Gone and Changed are how many were removed, and
	// edited or added; Since is the number of the last request that lists one of
	// them, from 1.
	Gone, Changed int
	Since         int
}

// showing keeps the conversation to show while others are measured.
type showing struct {
	mu     sync.Mutex
	best   *conversation
	n      int // number of best, in the order of the files
	budget compact.Budget
	ids    []string
}

// mostIDs is how many names of conversations are kept, to find the one that was
// probably meant.
const mostIDs = 10_000

// offer keeps a conversation if it is the one to show. n is its number in the
// order of the files.
func (s *showing) offer(want *Show, v *conversation, n int, b compact.Budget) {
	if want == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if want.Conversation != "" {
		if len(s.ids) < mostIDs {
			s.ids = append(s.ids, v.ID)
		}
		if v.ID != want.Conversation {
			return
		}
	}
	better := s.best == nil
	switch {
	case better:
	case want.Conversation == "" && v.peak != s.best.peak:
		better = v.peak > s.best.peak
	default:
		better = n < s.n
	}
	if better {
		s.best, s.n, s.budget = v, n, b
	}
}

// shown returns the conversation to show, under the first budget; nil if there is
// none, or ctx is done before the end.
func (s *showing) shown(ctx context.Context, o *Options) *Shown {
	v := s.best
	if v == nil {
		return nil
	}
	p := &o.Policies[0]
	if o.Show.PolicyFor != nil {
		name := o.Show.PolicyFor(v.Model)
		if i := slices.IndexFunc(o.Policies, func(p Policy) bool { return p.Name == name }); i >= 0 {
			p = &o.Policies[i]
		}
	}
	out := v.show(ctx, p, s.budget, *o.Prices)
	if ctx.Err() != nil {
		return nil
	}
	out.Budget = o.Budgets[0].String()
	return out
}

// show replays every request of a conversation through a policy until ctx is
// done, and keeps what it did.
func (v *conversation) show(ctx context.Context, p *Policy, b compact.Budget, prices Prices) *Shown {
	s := &Shown{
		File: v.File, Conversation: v.ID, Model: v.Model, Policy: p.Name, Tokens: b.Tokens, Fixed: v.fixed,
		Messages: v.shownMessages(),
	}
	var before *request
	var epochs []compact.Epoch
	var stages []compact.StageReport
	a := alignment{v: v}
	messages, bill := 0, 0.0
	for i := range v.turns {
		if ctx.Err() != nil {
			break
		}
		t := &v.turns[i]
		in := compact.Conversation{Messages: v.Messages[:t.messages:t.messages], Fixed: v.fixed}
		plan, report := compact.Compact(in, p.Policy, v.counter, b)
		now, _ := v.sent(plan.Apply(in, ""), before)
		common, cached := shared(before, now)
		r := ShownRequest{Messages: t.messages, Sent: len(now.msgs), Full: t.full, Tokens: now.total, Cached: cached}
		bill += prices.bill(now.total, cached)
		if n := len(plan.Epochs); n > 0 && p.Policy.Counter == nil {
			r.Trigger, r.Land = plan.Epochs[n-1].Trigger, plan.Epochs[n-1].Land
		}
		r.First = s.Epochs + 1
		r.begin(&plan, report.Stages, epochs, stages)
		s.Epochs += len(r.Epochs)
		if plan.Slot != nil {
			r.Charged = plan.Slot.Size
		}
		if !v.goesOn(before, now, common, messages, t.messages) {
			r.Rows = a.rows(&plan, in, now, i+1)
		}
		messages = t.messages
		s.Requests = append(s.Requests, r)
		before, epochs, stages = now, plan.Epochs, report.Stages
	}
	s.Cost = 1
	if v.full > 0 {
		s.Cost = bill / v.full
	}
	s.levels(p, v, b)
	return s
}

// begin fills in the epochs that the request before did not have, and what each
// stage did in them. before are the epochs of that request, sums what each stage
// had done in all of them.
func (r *ShownRequest) begin(plan *compact.Plan, stages []compact.StageReport, before []compact.Epoch, sums []compact.StageReport) {
	same := 0
	for same < len(before) && same < len(plan.Epochs) && before[same].At == plan.Epochs[same].At {
		same++
	}
	if r.Epochs = plan.Epochs[same:]; len(r.Epochs) == 0 {
		return
	}
	for _, s := range stages {
		at := slices.IndexFunc(sums, func(o compact.StageReport) bool { return o.Name == s.Name })
		if at >= 0 && same == len(before) {
			s.Edits, s.Saved = s.Edits-sums[at].Edits, s.Saved-sums[at].Saved
		}
		if s.Edits > 0 {
			r.Stages = append(r.Stages, s)
		}
	}
}

// goesOn reports whether a request is the one before it, as it was sent, with
// the client's messages [from, to) unchanged at its end.
func (v *conversation) goesOn(before, now *request, common, from, to int) bool {
	old := 0
	if before != nil {
		old = len(before.msgs)
	}
	if common < old || len(now.msgs)-old != to-from {
		return false
	}
	for i := from; i < to; i++ {
		if m := &now.msgs[old+i-from]; m.Origin != i || !m.Equal(&v.Messages[i]) {
			return false
		}
	}
	return true
}

// levels gives the requests before the first epoch its levels, or the share of
// the budget above which one would have started.
func (s *Shown) levels(p *Policy, v *conversation, b compact.Budget) {
	if p.Policy.Counter != nil || len(s.Requests) == 0 {
		return
	}
	trigger, land := int(p.Policy.TriggerFor(v.counter)*float64(b.Tokens)), 0
	for i := range s.Requests {
		if s.Requests[i].Trigger > 0 {
			trigger, land = s.Requests[i].Trigger, s.Requests[i].Land
			break
		}
	}
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Trigger == 0 {
			r.Trigger, r.Land = trigger, land
		}
	}
}

// shownMessages returns the client's messages.
func (v *conversation) shownMessages() []ShownMessage {
	tools := map[string]string{} // names of the calls, by id
	all := make([]ShownMessage, len(v.Messages))
	for i := range v.Messages {
		m := &v.Messages[i]
		for c := range m.Calls {
			tools[m.Calls[c].ID] = m.Calls[c].Name
		}
		all[i] = *shownMessage(m, v.costs[i], tools[m.Answers])
	}
	return all
}

// shownMessage returns a message; answers is the name of the tool that it is a
// result of.
func shownMessage(m *compact.Message, tokens int, answers string) *ShownMessage {
	s := &ShownMessage{Role: m.RoleName(), Tokens: tokens, About: cmp.Or(m.Name, answers)}
	add := func(kind string, t compact.Text) {
		if t.Len() > 0 {
			s.Pieces = append(s.Pieces, Piece{Kind: kind, Text: t.String()})
		}
	}
	add("thinking", m.Reasoning)
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Thought:
		case p.Kind == compact.KindText:
			add("", p.Text)
		case p.Kind == compact.KindRefusal:
			add("refusal", p.Text)
		default:
			s.Pieces = append(s.Pieces, Piece{Kind: fmt.Sprintf("%s, %s", kinds[p.Kind], Count(p.Text.Len(), "byte"))})
		}
	}
	add("refusal", m.Refusal)
	var names []string
	for i := range m.Calls {
		c := &m.Calls[i]
		s.Pieces = append(s.Pieces, Piece{Kind: "call of " + c.Name, Text: c.Arguments.String()})
		if names = append(names, c.Name); s.About == "" && i == len(m.Calls)-1 {
			s.About = strings.Join(slices.Compact(names), ", ")
		}
	}
	return s
}

// kinds are the names of the parts that are not text.
var kinds = map[compact.Kind]string{
	compact.KindImage: "picture", compact.KindAudio: "sound", compact.KindFile: "file", compact.KindVideo: "video", compact.KindOther: "part of another kind",
}
