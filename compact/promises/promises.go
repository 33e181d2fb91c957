// Package promises checks what package compact promises of one compaction. It asks
// the plan which messages are protected, and decides everything else anew from what
// went in and what came out. compacttest.Sweep checks the promises that take two
// compactions to see.
package promises

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
)

// Broken returns an error for every promise that one run of [compact.Compact] broke.
func Broken(in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget, plan *compact.Plan, r compact.Report) []error {
	k := checker{in: in, p: p, c: cmp.Or(p.Counter, c), model: c, b: b, plan: plan, r: r, sent: plan.Apply()}
	k.charged = p.Demands.Counter(k.c)
	k.b.Messages = compact.Limits{MaxMessages: b.Messages}.Under(in.Rules).MaxMessages
	folded := *plan
	folded.Demands = 0
	k.out = folded.Apply()
	k.repaired, _ = in.Rules.Repair(in.Messages, plan.Repair)
	k.untouched()
	if err := Pairs(k.sent); err != nil {
		k.fail("paired", "%v", err)
	}
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
	in       compact.Conversation
	repaired []compact.Message
	out      []compact.Message // folded
	sent     []compact.Message // rewritten for the demands
	p        *compact.Policy
	c, model compact.Counter // the policy's, and the model's own
	charged  compact.Counter // by which the ladder was climbed
	b        compact.Budget
	plan     *compact.Plan
	r        compact.Report
	errs     []error
}

func (k *checker) fail(promise, format string, args ...any) {
	k.errs = append(k.errs, fmt.Errorf("%s: %s", promise, fmt.Sprintf(format, args...)))
}

// untouched: nothing needed, nothing done; a message that is not marked as
// edited is the client's, and an edited one keeps all that edits may not touch.
func (k *checker) untouched() {
	if k.r.Outcome == compact.Untouched && (len(k.sent) != len(k.in.Messages) || len(k.sent) > 0 && &k.sent[0] != &k.in.Messages[0]) {
		k.fail("untouched", "an untouched conversation is not the same list")
	}
	sent := make(map[int]*compact.Message, len(k.in.Messages)) // a folded list is a conversation too, whose Origins are no indices
	for i := range k.in.Messages {
		sent[k.in.Messages[i].Origin] = &k.in.Messages[i]
	}
	for i := range k.out {
		m := &k.out[i]
		if m.Origin == compact.Added {
			continue
		}
		o := sent[m.Origin]
		if o != nil && m.Edited {
			o = asBoundAs(o, m)
		}
		switch {
		case o == nil:
			k.fail("untouched", "message %d comes from index %d, which the client did not send", i, m.Origin)
		case !m.Edited && !m.Equal(o):
			k.fail("untouched", "message %d changed but is not marked as edited", m.Origin)
		case m.Edited && k.plan.Slot != nil && k.plan.Slot.Host() == m.Origin && withoutSlot(m, o).Equal(o):
		case m.Role != o.Role || m.Shape != o.Shape || m.Name != o.Name || len(m.Parts) != len(o.Parts) || m.Sound != o.Sound ||
			!m.Reasoning.Equal(o.Reasoning) || !m.Refusal.Equal(o.Refusal):
			k.fail("untouched", "message %d lost what an edit may not touch", m.Origin)
		case m.Sealed(compact.SealText) && !slices.EqualFunc(m.Parts, o.Parts, compact.Part.Equal):
			k.fail("untouched", "message %d carries reasoning and was edited", m.Origin)
		}
	}
}

// asBoundAs returns m, without its bound thinking if o has none.
func asBoundAs(m, o *compact.Message) *compact.Message {
	if !m.Bound() || o.Bound() {
		return m
	}
	bare := m.Unbound()
	return &bare
}

// withoutSlot returns the last message of the task without the text of the slot that
// follows its own.
func withoutSlot(out, m *compact.Message) *compact.Message {
	if len(out.Parts) <= len(m.Parts) {
		return out
	}
	bare := *out
	bare.Parts = out.Parts[:len(m.Parts)]
	bare.Shape = m.Shape
	return &bare
}

// fits: within the budget, or reported as over; and the totals are true.
func (k *checker) fits() {
	after := k.in.Fixed + compact.CostAll(k.model, k.sent)
	if s := k.plan.Slot; s != nil {
		texts := slices.DeleteFunc(s.Texts(nil), func(t string) bool { return t == "" })
		if s.At < 0 || k.repaired[s.At].Shape != compact.Array {
			texts = []string{strings.Join(texts, "")}
		}
		if s.At < 0 {
			texts[0] = strings.TrimLeft(texts[0], "\n")
		}
		used := 0
		for _, text := range texts {
			used += compact.CostText(k.c, text)
			after -= compact.CostText(k.model, text)
		}
		if used > s.Size {
			k.fail("fits", "the digest costs %d tokens, its slot is charged %d", used, s.Size)
		}
		after += s.Size
		if s.At < 0 && texts[0] == "" { // no message was added, but room was left for one
			after += k.model.Envelope(&compact.Message{Role: s.Role, Shape: compact.String, Origin: compact.Added})
		}
	}
	if _, costs := k.plan.Costs(); costs != nil {
		for i := range k.out {
			m := &k.out[i]
			if m.Origin < 0 || k.plan.Slot != nil && m.Origin == k.plan.Slot.Host() { // with the text of the slot
				continue
			}
			if c := compact.Cost(k.c, m); c != costs[m.Origin] {
				k.fail("fits", "message %d costs %d tokens, and is said to cost %d", m.Origin, c, costs[m.Origin])
			}
		}
	}
	if after != k.r.After {
		k.fail("fits", "reported %d tokens, counted %d", k.r.After, after)
	}
	if (after > k.r.Budget || len(k.sent) > k.b.Messages) != (k.r.Outcome == compact.Over) {
		k.fail("fits", "%d of %d tokens, %d of %d messages, reported as %s", after, k.r.Budget, len(k.sent), k.b.Messages, k.r.Outcome)
	}
}

// idempotent: repairing what came out changes nothing, and neither does
// compacting it once it is below the trigger.
func (k *checker) idempotent() {
	if twice, edits := k.in.Rules.Repair(k.sent, k.plan.Repair); len(edits) > 0 || len(twice) != len(k.sent) {
		k.fail("idempotent", "repairing the result makes %d more repairs", len(edits))
	}
	again := compact.Conversation{Messages: k.sent, Fixed: k.in.Fixed}
	cost := compact.CostAll(k.charged, k.sent) + k.in.Fixed*9/8 // which a fold rounds up
	if k.plan.Slot != nil {
		cost += k.plan.Slot.Size
	}
	least := compact.Lower(k.r.Budget, k.b.Placing)
	trigger := k.p.TriggerFor(k.c)
	if len(k.in.Rates) > 0 || float64(cost+1) >= trigger*float64(least) || float64(len(k.sent)) >= trigger*float64(k.b.Messages) {
		return
	}
	if _, r := compact.Compact(again, k.p, k.c, k.b); r.Outcome != compact.Untouched {
		k.fail("idempotent", "compacting the result again is not a no-op: %s, %d epochs", r.Outcome, r.Epochs)
	}
}

// neverWorse: the ladder only shrinks.
func (k *checker) neverWorse() {
	before, after := k.in.Fixed+compact.CostAll(k.charged, k.repaired), k.r.After
	if k.p.Counter != nil || k.p.Demands != 0 {
		after = k.in.Fixed + compact.CostAll(k.charged, k.out)
	}
	for _, e := range k.plan.Edits {
		if e.Op == compact.OpUnbind {
			before += max(0, -e.Saved) // NoThinking for thinking that costs nothing
		}
		if e.Epoch > 0 && e.Op == compact.OpRewrite && e.Saved <= 0 {
			k.fail("never worse", "the edit of message %d saves %d tokens", e.Origin, e.Saved)
		}
	}
	if after > before {
		k.fail("never worse", "%d tokens became %d", before, after)
	}
}
