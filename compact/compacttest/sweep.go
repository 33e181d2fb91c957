package compacttest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"laconic/compact"
	"laconic/compact/promises"
)

// Run is what one compaction of a prefix gave.
type Run struct {
	Prefix int // messages of the client's list
	Plan   compact.Plan
	Report compact.Report
	Out    []compact.Message

	repaired int // messages after repair
}

// Compacted compacts a conversation and reports every promise that is broken, behind what.
func Compacted(
	t testing.TB, in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget, what ...any,
) (compact.Plan, compact.Report) {
	t.Helper()
	plan, r := compact.Compact(in, p, c, b)
	for _, err := range promises.Broken(in, p, c, b, &plan, r) {
		t.Error(append(what, err)...)
	}
	return plan, r
}

// Sweep compacts every prefix of a conversation that a client must have sent,
// and checks all promises of the pure half on each, and between neighbours:
// what was sent stays a prefix of what is sent next unless an epoch starts.
// It returns all runs and every broken promise.
func Sweep(in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget) (runs []Run, broken []error) {
	before := fmt.Sprint(in.Messages)
	for requests, k := range RequestPoints(in.Messages) {
		if k < in.Unbind {
			continue // requests from before the thinking was taken out
		}
		prefix := compact.Conversation{Messages: in.Messages[:k:k], Fixed: in.Fixed, Unbind: in.Unbind, Rates: in.Rates}
		plan, report := compact.Compact(prefix, p, c, b)
		repaired, _ := compact.Repair(prefix.Messages, plan.Repair)
		run := Run{Prefix: k, Plan: plan, Report: report, Out: plan.Apply(""), repaired: len(repaired)}
		note := func(what string, errs ...error) {
			for _, err := range errs {
				if err != nil {
					broken = append(broken, fmt.Errorf("prefix %d: %s%w", k, what, err))
				}
			}
		}
		note("", promises.Broken(prefix, p, c, b, &plan, report)...)
		note("rules: ", rulesBroken(p, repaired, run.Out)...)
		if n := len(plan.Epochs); n > requests+1 {
			note("linear: ", fmt.Errorf("%d epochs in %d requests", n, requests+1))
		}
		if p.Counter == nil {
			note("accounted: ", adds(&plan, &report, run.Out))
		}
		if n := len(runs); n > 0 {
			after := fmt.Sprintf("after %d: ", runs[n-1].Prefix)
			note(after+"stable: ", stable(&runs[n-1], &run, cmp.Or(b.Placing, b.Tokens)))
			note(after+"foretold: ", foretold(&runs[n-1], &run))
		}
		runs = append(runs, run)
		note("stable: ", asWritten(runs))
	}
	if fmt.Sprint(in.Messages) != before {
		broken = append(broken, fmt.Errorf("stateless: the client's messages were changed"))
	}
	return runs, broken
}

// adds returns an error unless what the stages saved adds up to what the request costs
// less, and the edits that were made to what each stage did, and name messages that left.
func adds(plan *compact.Plan, r *compact.Report, out []compact.Message) error {
	saved := r.RepairSaved
	stages := map[string]*compact.StageReport{}
	for _, s := range r.Stages {
		saved += s.Saved
		stages[s.Name] = &s
	}
	if want := r.Before - r.After; saved != want {
		return fmt.Errorf("stages saved %d tokens of %d: %+v", saved, want, r.Stages)
	}
	if plan.Slot != nil {
		s := stages[plan.Slot.Stage]
		s.Edits--
		s.Saved += plan.Slot.Size
	}
	sent := make(map[int]bool, len(out))
	for i := range out {
		sent[out[i].Origin] = true
	}
	for _, e := range plan.Made() {
		for n := range e.Messages() {
			if e.Op == compact.OpRemove && e.Origin != compact.Added && sent[e.Origin+n] {
				return fmt.Errorf("message %d left and was sent", e.Origin+n)
			}
		}
		if s := stages[e.Stage]; s != nil {
			s.Edits -= e.Messages()
			s.Saved -= e.Saved
		}
	}
	for name, s := range stages {
		if s.Edits != 0 || s.Saved != 0 && (plan.Slot == nil || plan.Slot.At >= 0) {
			return fmt.Errorf("%s did %d edits and saved %d tokens that no edit says", name, s.Edits, s.Saved)
		}
	}
	return nil
}

// asWritten: bound thinking follows what was sent when it was written, but
// for thinking before it, which is no part of that; and what was left out then
// stays away.
func asWritten(runs []Run) error {
	out := runs[len(runs)-1].Out
	for at := range out {
		if !out[at].Bound() {
			continue
		}
		for at > 0 && out[at-1].Role == compact.Assistant && out[at-1].Origin == out[at].Origin-1 {
			at-- // messages in a row, as the client sent them, are one answer
		}
		i, ok := slices.BinarySearchFunc(runs, out[at].Origin, func(r Run, origin int) int { return r.Prefix - origin })
		if !ok {
			continue // no client sent what is before it
		}
		was := runs[i].Out
		if len(was) != at {
			return fmt.Errorf("the thinking of message %d was written behind %d messages and stands behind %d", out[at].Origin, len(was), at)
		}
		for n := range was {
			if out[n].Bound() && !was[n].Bound() {
				return fmt.Errorf("the thinking of message %d is back", out[n].Origin)
			}
			if x, y := thoughtless(was[n]), thoughtless(out[n]); !x.Equal(&y) {
				return fmt.Errorf("the thinking of message %d was written behind another message %d", out[at].Origin, out[n].Origin)
			}
		}
	}
	return nil
}

// thoughtless is a message without its reasoning.
func thoughtless(m compact.Message) compact.Message {
	m.Seal, m.Reasoning = 0, compact.Text{}
	return m
}

// stable compares two requests that followed each other. placing is the budget that
// their epochs were placed for.
func stable(a, b *Run, placing int) error {
	for i, e := range b.Plan.Epochs {
		if i < len(a.Plan.Epochs) {
			if e != a.Plan.Epochs[i] {
				return fmt.Errorf("epoch %d was %+v and is %+v", i+1, a.Plan.Epochs[i], e)
			}
			continue
		}
		if e.At <= a.repaired {
			return fmt.Errorf("epoch %d at %d was not there a turn ago", i+1, e.At)
		}
	}
	if len(b.Plan.Epochs) < len(a.Plan.Epochs) {
		return fmt.Errorf("%d epochs became %d", len(a.Plan.Epochs), len(b.Plan.Epochs))
	}
	if err := apart(b.Plan.Epochs, placing); err != nil {
		return err
	}
	if len(b.Plan.Epochs) > len(a.Plan.Epochs) {
		return nil
	}
	if len(b.Out) < len(a.Out) || !equal(a.Out, b.Out[:len(a.Out)]) {
		return fmt.Errorf("%d messages sent are not a prefix of the %d sent next", len(a.Out), len(b.Out))
	}
	return nil
}

// foretold: what the plan before an epoch said of the epoch's slot came true.
func foretold(a, b *Run) error {
	if len(b.Plan.Epochs) != len(a.Plan.Epochs)+1 || b.Plan.Slot == nil || b.Plan.Slot.End != b.Plan.Epochs[len(a.Plan.Epochs)].At {
		return nil // no epoch between them, or one without a new slot
	}
	mark, slot := a.Plan.Forecast()
	if slot == nil {
		return nil // the trigger came before any request past the warm mark, or it needed none yet
	}
	last := len(slot.Spans) - 1
	if n := len(b.Plan.Slot.Spans) - 1; n != last {
		if n == 0 && b.Plan.Slot.To == slot.To {
			return nil // the slot shrank at the epoch, because the request did not fit
		}
		return fmt.Errorf("the slot has %d spans, %d were forecast", n+1, last+1)
	}
	was, is := slot.Spans[last], b.Plan.Slot.Spans[last]
	switch {
	case was.From != is.From || was.To != is.To || !slices.Equal(was.Earlier, is.Earlier):
		return fmt.Errorf("the span of [%d, %d) %v was forecast as [%d, %d) %v", is.From, is.To, is.Earlier, was.From, was.To, was.Earlier)
	case mark >= b.Plan.Slot.End:
		return fmt.Errorf("the warm mark %d is not before the epoch at %d", mark, is.End)
	case !slices.EqualFunc(slot.Runs(last), b.Plan.Slot.Runs(last), equal):
		return fmt.Errorf("the span of [%d, %d) stands for other messages than was forecast", is.From, is.To)
	}
	return nil
}

// apart: between two epochs enough arrived to be worth one, or less had to stay
// at the second.
func apart(epochs []compact.Epoch, placing int) error {
	for i := 1; i < len(epochs); i++ {
		e, next := epochs[i-1], epochs[i]
		if e.ByMessages || next.ByMessages || next.Before > next.Budget || e.Budget != next.Budget {
			continue // the number of messages, the budget, or a count that changed it, forced one
		}
		if next.Before > placing && e.After <= placing {
			continue // the same, where the second plans for more than the budget
		}
		want := min(e.Trigger, next.Trigger) - e.Land
		if e.After > min(e.Land, placing) {
			want = (e.Budget - max(e.Required, next.Required)) / 5
		}
		if arrived := next.Before - e.After; arrived < want {
			return fmt.Errorf("epoch %d: only %d tokens arrived since the last one, which left %d of %d", i+1, arrived, e.After, e.Land)
		}
	}
	return nil
}

// equal compares all that an upstream would see, and where messages come from.
func equal(a, b []compact.Message) bool {
	return slices.EqualFunc(a, b, func(x, y compact.Message) bool { return x.Origin == y.Origin && x.Equal(&y) })
}
