package replay

import (
	"context"
	"fmt"
	"slices"

	"laconic/compact"
	"laconic/number"
	"laconic/view"
)

// Bounds of the conversation that is shown.
const (
	mostShown   = 4000 // requests with a point
	mostChanges = 150  // requests with what became of each message
)

// show replays every request of a workload through a policy until ctx is
// done, and keeps what it did.
func (w *workload) show(ctx context.Context, p *Policy, b compact.Budget, prices Prices) *view.Comparison {
	s := &view.Comparison{File: w.File, ID: w.ID, Model: w.Model, Policy: p.Name, Tokens: b.Tokens, Fixed: w.fixed, Points: []view.Point{}, Changes: []view.Change{}}
	tools := map[string]string{} // names of the calls, by id
	for i := range w.Messages {
		for _, c := range w.Messages[i].Calls {
			tools[c.ID] = c.Name
		}
	}
	messages, bill, later, unlisted := 0, 0.0, 0, 0
	for i, t := range w.through(p.Policy, b) {
		if ctx.Err() != nil {
			break
		}
		bill += prices.bill(t.total, t.cached)
		first := s.Epochs + 1
		s.Epochs += t.began
		point := view.Point{Before: t.full, Sent: t.total, Budget: b.Tokens, Cached: t.cached, Epoch: t.began > 0}
		if n := len(t.plan.Epochs); n > 0 && p.Policy.Counter == nil {
			point.Trigger, point.Land = t.plan.Epochs[n-1].Trigger, t.plan.Epochs[n-1].Land
		}
		changed := !t.goesOn(messages)
		switch {
		case i >= mostShown:
			later++
		case changed && (len(s.Changes) == mostChanges || t.messages > view.MostMessages):
			unlisted++
		case changed:
			c := view.Change{Number: i + 1, Before: t.full, Sent: t.total, Cached: t.cached, First: first, Began: t.began, Messages: t.messages, MessagesSent: len(t.sent)}
			c.StageCounts, c.OtherCount = view.Stages(&t.report)
			w.change(&c, s, tools, t, p.Policy.Counter == nil)
			s.Changes = append(s.Changes, c)
		}
		if i < mostShown {
			s.Points = append(s.Points, point)
		}
		messages = t.messages
	}
	s.Cost = share(bill, w.full)
	s.Miss(later, "%s", number.Count(later, "later request"))
	s.Miss(unlisted, "the messages of %s that changed something", number.Count(unlisted, "request"))
	w.say(s, tools)
	s.Finish()
	return s
}

// change fills in what a request did to each message. costs is set if the plan counts
// as w does.
func (w *workload) change(c *view.Change, s *view.Comparison, tools map[string]string, t *step, costs bool) {
	from := view.Planned{Conversation: t.in, Sent: t.sent, Plan: &t.plan, Counter: w.counter, Before: w.costs[:t.messages]}
	if costs {
		_, from.After = t.plan.Costs()
	}
	c.Request = view.Of(&from)
	c.Request.Messages, c.Texts = nil, map[int][]view.Piece{} // the comparison has them
	if c.Slot != nil {
		for n, text := range t.plan.Slot.Texts(nil) {
			c.Texts[-1] = append(c.Texts[-1], s.Piece(fmt.Sprint("span ", n+1), text))
		}
	}
	for _, f := range c.Fates {
		if f.State != view.Changed && f.State != view.Added {
			continue
		}
		m := t.sent[f.At]
		if c.Slot != nil && c.Slot.At >= 0 && c.Slot.In == int(f.At) { // its last part is the record
			m.Parts = m.Parts[:min(len(m.Parts), len(w.Messages[f.From].Parts))]
		}
		c.Texts[int(f.At)] = said(s, &m, tools[m.Answers])
	}
}

// goesOn reports whether a request is the one before it, as it was sent, with the
// client's messages from that length on unchanged at its end.
func (t *step) goesOn(from int) bool {
	return t.common == t.before && len(t.sent)-t.before == t.messages-from && !slices.Contains(t.whole[from:t.messages], false)
}

// say adds the client's messages.
func (w *workload) say(s *view.Comparison, tools map[string]string) {
	msgs := w.Messages[:min(len(w.Messages), view.MostMessages)]
	all := view.Of(&view.Planned{Conversation: compact.Conversation{Messages: msgs}, Plan: &compact.Plan{}, Counter: w.counter, Before: w.costs})
	s.Messages = all.Messages
	for i := range msgs {
		s.Said = append(s.Said, said(s, &msgs[i], tools[msgs[i].Answers]))
	}
	s.Miss(len(w.Messages)-len(msgs), "%s", number.Count(len(w.Messages)-len(msgs), "later message"))
}

// said returns what a message says; answers is the name of the tool that it is a result
// of.
func said(s *view.Comparison, m *compact.Message, answers string) (all []view.Piece) {
	add := func(kind string, t compact.Text) {
		if t.Len() > 0 {
			all = append(all, s.Piece(kind, t.String()))
		}
	}
	add("thinking", m.Reasoning)
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Thought:
		case p.Kind == compact.KindText && answers != "":
			add("result of "+answers, p.Text)
		case p.Kind == compact.KindText:
			add("", p.Text)
		case p.Kind == compact.KindRefusal:
			add("refusal", p.Text)
		default:
			all = append(all, s.Piece(fmt.Sprintf("%s, %s", kinds[p.Kind], number.Count(p.Text.Len(), "byte")), ""))
		}
	}
	add("refusal", m.Refusal)
	for i := range m.Calls {
		add("call of "+m.Calls[i].Name, m.Calls[i].Arguments)
	}
	return all
}

// kinds are the names of the parts that are not text.
var kinds = map[compact.Kind]string{
	compact.KindImage: "picture", compact.KindAudio: "sound", compact.KindFile: "file", compact.KindVideo: "video", compact.KindOther: "part of another kind",
}
