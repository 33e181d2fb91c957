package compact

import (
	"fmt"
	"slices"
	"strings"
)

// Broken returns an error for every promise that one run of [Compact] broke: it
// compares what went in with what came out. Only which messages were recent at
// which epoch it asks the fold. compacttest.Sweep checks the promises that take
// two runs to see.
func Broken(in Conversation, p *Policy, c Counter, b Budget, plan *Plan, r Report) []error {
	model := c
	if p.Counter != nil {
		c = p.Counter
	}
	k := checker{in: in, out: plan.Apply(in), p: p, c: c, model: model, b: b.withDefaults(), plan: plan, r: r}
	k.repaired, _ = Repair(in.Messages, plan.Repair)
	k.untouched()
	k.paired()
	k.owned()
	k.fits()
	k.kept()
	k.bound()
	k.idempotent()
	k.neverWorse()
	return k.errs
}

type checker struct {
	in       Conversation
	repaired []Message
	out      []Message
	p        *Policy
	c, model Counter // the policy's, and the model's own
	b        Budget
	plan     *Plan
	r        Report
	errs     []error
}

func (k *checker) fail(promise, format string, args ...any) {
	k.errs = append(k.errs, fmt.Errorf("%s: %s", promise, fmt.Sprintf(format, args...)))
}

// untouched: nothing needed, nothing done; a message that is not marked as
// edited is the client's, and an edited one keeps all that edits may not touch.
func (k *checker) untouched() {
	if k.r.Outcome == Untouched && (len(k.out) != len(k.in.Messages) || len(k.out) > 0 && &k.out[0] != &k.in.Messages[0]) {
		k.fail("untouched", "an untouched conversation is not the same list")
	}
	for i := range k.out {
		m := &k.out[i]
		if m.Origin == Added {
			continue
		}
		o := k.original(m.Origin)
		if o != nil && m.Edited {
			o = o.asBoundAs(m)
		}
		switch {
		case o == nil:
			k.fail("untouched", "message %d comes from index %d, which the client did not send", i, m.Origin)
		case !m.Edited && !m.Equal(o):
			k.fail("untouched", "message %d changed but is not marked as edited", m.Origin)
		case m.Edited && k.hosts(m.Origin) && m.Role == o.Role && withoutSlot(m, o).Equal(o):
		case m.Role != o.Role || m.Shape != o.Shape || m.Name != o.Name || len(m.Parts) != len(o.Parts) || m.Sound != o.Sound ||
			!m.Reasoning.Equal(o.Reasoning) || !m.Refusal.Equal(o.Refusal):
			k.fail("untouched", "message %d lost what an edit may not touch", m.Origin)
		case m.Sealed && !slices.EqualFunc(m.Parts, o.Parts, Part.Equal):
			k.fail("untouched", "message %d carries reasoning and was edited", m.Origin)
		}
	}
}

// hosts reports whether the text of the slot follows the text of the message.
func (k *checker) hosts(origin int) bool {
	s := k.plan.Slot
	return s != nil && s.At >= 0 && k.repaired[s.At].Origin == origin
}

// original returns the client's message with that Origin. A folded list is a
// conversation too, so Origin need not be its index.
func (k *checker) original(origin int) *Message {
	if origin < len(k.in.Messages) && k.in.Messages[origin].Origin == origin {
		return &k.in.Messages[origin]
	}
	for i := range k.in.Messages {
		if k.in.Messages[i].Origin == origin {
			return &k.in.Messages[i]
		}
	}
	return nil
}

// fits: within the budget, or reported as over; and the totals are true.
func (k *checker) fits() {
	after := k.in.Fixed + CostAll(k.model, k.out)
	if s := k.plan.Slot; s != nil {
		texts := slices.DeleteFunc(s.Texts(nil), func(t string) bool { return t == "" })
		if s.At < 0 || k.repaired[s.At].Shape != Array {
			texts = []string{strings.Join(texts, "")}
		}
		if s.At < 0 {
			texts[0] = strings.TrimLeft(texts[0], "\n")
		}
		used := 0
		for _, text := range texts {
			used += CostText(k.c, text)
			after -= CostText(k.model, text)
		}
		if used > s.Size {
			k.fail("fits", "the digest costs %d tokens, its slot is charged %d", used, s.Size)
		}
		after += s.Size
		if s.At < 0 && len(texts[0]) == 0 { // no message was added, but room was left for one
			after += s.envelope(k.model)
		}
	}
	if _, costs := k.plan.Costs(); costs != nil {
		for i := range k.out {
			m := &k.out[i]
			if m.Origin < 0 || k.plan.Slot != nil && m.Origin == k.plan.Slot.At { // with the text of the slot
				continue
			}
			if c := Cost(k.c, m); c != costs[m.Origin] {
				k.fail("fits", "message %d costs %d tokens, and is said to cost %d", m.Origin, c, costs[m.Origin])
			}
		}
	}
	most := k.b.most()
	if after != k.r.After {
		k.fail("fits", "reported %d tokens, counted %d", k.r.After, after)
	}
	if (after > most || len(k.out) > k.b.Messages) != (k.r.Outcome == Over) {
		k.fail("fits", "%d of %d tokens, %d of %d messages, reported as %s", after, most, len(k.out), k.b.Messages, k.r.Outcome)
	}
}

// kept: instructions, pins, the first and the newest user message and the
// recent exchanges are there, with their bytes, in their order. Only the last
// resort cut a recent result, or recent arguments; it removed nothing.
func (k *checker) kept() {
	msgs := k.repaired
	d, recent, newest := k.asOfEpochs()
	run := make([]int, len(msgs)) // start of the run of one role that a message is in
	for i := range msgs {
		if run[i] = i; i > 0 && msgs[i-1].Role == msgs[i].Role {
			run[i] = run[i-1]
		}
	}
	edits := make(map[int][]Edit)
	for _, e := range k.plan.Edits {
		for i := e.At; e.Epoch > 0 && e.Op != OpUnbind && i < max(e.At+1, e.End); i++ {
			edits[i] = append(edits[i], e)
		}
	}
	at := make(map[int]*Message, len(k.out))
	for i := range k.out {
		if k.out[i].Origin != Added {
			at[k.out[i].Origin] = &k.out[i]
		}
	}
	for i := range msgs {
		m := &msgs[i]
		if m.Origin == Added {
			continue
		}
		out := at[m.Origin]
		if out != nil && i == d.firstUser {
			out = withoutSlot(out, m)
		}
		if out != nil {
			m = m.asBoundAs(out)
		}
		stays := m.Role.Instruction() || d.pinned[i] || i == d.firstUser || i == d.newestUser
		switch {
		case out != nil && out.Equal(m):
		case out == nil && m.Role.Instruction() && !d.pinned[i] && repeatedLater(msgs, i):
		case stays:
			k.fail("kept", "message %d (%s) is gone or changed", m.Origin, m.Role)
		case out == nil && !slices.ContainsFunc(edits[i], func(e Edit) bool {
			user := newest[e.Epoch]
			return e.Op == OpRemove && (i < recent[e.Epoch] || m.Role == User && i < user && run[i] == run[user])
		}):
			k.fail("kept", "message %d (%s) is gone", m.Origin, m.Role)
		case out != nil && !k.shortened(out, m, edits[i], i, recent):
			k.fail("kept", "message %d (%s) changed", m.Origin, m.Role)
		}
	}
	order := 0
	for i := range msgs {
		if s := k.plan.Slot; order < len(k.out) && s != nil && s.At < 0 && k.out[order].Origin == Added && k.out[order].Role == s.role() {
			order++ // the slot's own message
		}
		if order < len(k.out) && k.out[order].Origin == msgs[i].Origin && k.out[order].Role == msgs[i].Role {
			order++
		}
	}
	if order < len(k.out) {
		k.fail("kept", "message %d does not stand in the client's order", k.out[order].Origin)
	}
}

// withoutSlot returns the first user message without the text of the slot that
// follows its own.
func withoutSlot(out, m *Message) *Message {
	if len(out.Parts) <= len(m.Parts) {
		return out
	}
	bare := *out
	bare.Parts = out.Parts[:len(m.Parts)]
	bare.Shape = m.Shape
	return &bare
}

// repeatedLater reports whether a later message repeats the instructions of
// message i word for word.
func repeatedLater(msgs []Message, i int) bool {
	return slices.ContainsFunc(msgs[i+1:], func(m Message) bool {
		return m.Role.Instruction() && slices.EqualFunc(m.Parts, msgs[i].Parts, Part.Equal)
	})
}

// shortened reports whether message i became what it is by edits that each were
// allowed: of a message that was old at the time, or by the last resort.
func (k *checker) shortened(out, m *Message, edits []Edit, i int, recent []int) bool {
	if len(edits) == 0 || m.Sealed || m.Role.Instruction() || len(out.Calls) != len(m.Calls) {
		return false
	}
	for _, e := range edits {
		last := e.Last && k.plan.Epochs[e.Epoch-1].Excess > 0
		switch old := i < recent[e.Epoch]; e.Op {
		case OpMedia:
			if !old {
				return false
			}
		case OpArguments:
			if !old && !last {
				return false
			}
		default:
			if m.Role == User || !old && !(last && m.Role.Result()) {
				return false
			}
		}
	}
	for n := range m.Calls {
		if isObject(m.Calls[n].Arguments.String()) && !isObject(out.Calls[n].Arguments.String()) {
			return false
		}
	}
	return true
}

// asOfEpochs returns a draft of the whole list and, as of each epoch from 1, the
// indices of the first recent message and of the newest user message.
func (k *checker) asOfEpochs() (d *Draft, recent, newest []int) {
	msgs := k.repaired
	costs := make([]int, len(msgs))
	for i := range msgs {
		costs[i] = Cost(k.c, &msgs[i])
	}
	f := newFolding(newInput(k.in, k.p, k.c, k.b, msgs, costs))
	recent, newest = []int{0}, []int{-1}
	for at := f.pointAfter(0); ; at = f.pointAfter(at) {
		f.show(at)
		for len(recent) <= len(k.plan.Epochs) && k.plan.Epochs[len(recent)-1].At <= at {
			recent, newest = append(recent, f.d.recent), append(newest, f.d.newestUser)
		}
		if at == len(msgs) {
			return f.d, recent, newest
		}
	}
}

// idempotent: repairing what came out changes nothing, and neither does
// compacting it once it is below the trigger.
func (k *checker) idempotent() {
	if twice, edits := Repair(k.out, k.plan.Repair); len(edits) > 0 || len(twice) != len(k.out) {
		k.fail("idempotent", "repairing the result makes %d more repairs", len(edits))
	}
	trigger := k.p.TriggerFor(k.c)
	cost := coarse(k.in.Fixed, k.b.Step) + CostAll(k.c, k.out)
	if k.plan.Slot != nil {
		cost += k.plan.Slot.Size
	}
	if cost > k.p.highest(trigger, min(k.b.Placing, k.b.most())) || len(k.out) > k.p.highest(trigger, k.b.Messages) {
		return
	}
	if _, r := Compact(Conversation{Messages: k.out, Fixed: k.in.Fixed}, k.p, k.c, k.b); r.Outcome != Untouched {
		k.fail("idempotent", "compacting the result again is not a no-op: %s, %d epochs", r.Outcome, r.Epochs)
	}
}

// neverWorse: the ladder only shrinks.
func (k *checker) neverWorse() {
	before, after := k.in.Fixed+CostAll(k.c, k.repaired), k.r.After
	if k.p.Counter != nil {
		after = k.in.Fixed + CostAll(k.c, k.out)
	}
	for _, e := range k.plan.Edits {
		if e.Op == OpUnbind {
			before += max(0, -e.Saved) // NoThinking for thinking that costs nothing
		}
	}
	if after > before {
		k.fail("never worse", "%d tokens became %d", before, after)
	}
	for _, e := range k.plan.Edits {
		if e.Epoch > 0 && e.Op == OpRewrite && e.Saved <= 0 {
			k.fail("never worse", "the edit of message %d saves %d tokens", e.Origin, e.Saved)
		}
	}
}
