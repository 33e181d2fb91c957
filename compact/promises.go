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
	p = p.Demands.policy(p)
	k := checker{in: in, out: plan.folded(in, nil), sent: plan.Apply(in), p: p, c: c, model: model, b: b.withDefaults(in.Rules), plan: plan, r: r}
	k.repaired, _ = in.Rules.Repair(in.Messages, plan.Repair)
	k.now = k.b.at(rateAt(in.Rates, sources(k.repaired)))
	k.untouched()
	k.paired(k.sent)
	k.owned()
	k.met()
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
	out      []Message // folded
	sent     []Message // rewritten for the demands
	p        *Policy
	c, model Counter // the policy's, and the model's own
	b, now   Budget  // now: in tokens of c for this request
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
	if k.r.Outcome == Untouched && (len(k.sent) != len(k.in.Messages) || len(k.sent) > 0 && &k.sent[0] != &k.in.Messages[0]) {
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
		case m.Sealed(SealText) && !slices.EqualFunc(m.Parts, o.Parts, Part.Equal):
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
	after := k.in.Fixed + CostAll(k.model, k.sent)
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
	most := k.now.most()
	if after != k.r.After {
		k.fail("fits", "reported %d tokens, counted %d", k.r.After, after)
	}
	if (after > most || len(k.sent) > k.b.Messages) != (k.r.Outcome == Over) {
		k.fail("fits", "%d of %d tokens, %d of %d messages, reported as %s", after, most, len(k.sent), k.b.Messages, k.r.Outcome)
	}
}

// idempotent: repairing what came out changes nothing, and neither does
// compacting it once it is below the trigger.
func (k *checker) idempotent() {
	if twice, edits := k.in.Rules.Repair(k.sent, k.plan.Repair); len(edits) > 0 || len(twice) != len(k.sent) {
		k.fail("idempotent", "repairing the result makes %d more repairs", len(edits))
	}
	trigger := k.p.TriggerFor(k.c)
	cost := coarse(k.in.Fixed, k.b.Step) + CostAll(k.p.Demands.counter(k.c), k.sent)
	if k.plan.Slot != nil {
		cost += k.plan.Slot.Size
	}
	if cost > k.p.highest(trigger, min(k.now.Placing, k.now.most())) || len(k.sent) > k.p.highest(trigger, k.b.Messages) {
		return
	}
	if _, r := Compact(Conversation{Messages: k.sent, Fixed: k.in.Fixed}, k.p, k.c, k.now); r.Outcome != Untouched {
		k.fail("idempotent", "compacting the result again is not a no-op: %s, %d epochs", r.Outcome, r.Epochs)
	}
}

// neverWorse: the ladder only shrinks.
func (k *checker) neverWorse() {
	c := k.p.Demands.counter(k.c) // by which the ladder was climbed
	before, after := k.in.Fixed+CostAll(c, k.repaired), k.r.After
	if k.p.Counter != nil || k.p.Demands.rewrites() {
		after = k.in.Fixed + CostAll(c, k.out)
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
