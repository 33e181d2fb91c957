package compacttest

import (
	"errors"
	"fmt"
	"slices"

	"laconic/compact"
	"laconic/compact/promises"
)

// Strictest compares what was sent with what came in, after repair, under the
// strictest shape that any upstream is known to ask for (chat templates of
// Mistral, Gemma and Qwen, Gemini, Bedrock). A client may break its rules
// itself, and many upstreams let it; so a rule is reported only where what came
// in kept it and what was sent does not. A message that was added counts like
// any other.
func Strictest(in, out []compact.Message) []error {
	var errs []error
	for _, r := range shapeRules {
		if r.broken(in) == nil {
			if err := r.broken(out); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
			}
		}
	}
	return errs
}

// shape is Strictest for one run. A policy that places its slot as a system
// message breaks the rules about system messages by choice, and only those. Where
// roles must alternate, a turn of a user may have been put behind a result.
func shape(p *compact.Policy, in compact.Conversation, plan *compact.Plan, out []compact.Message) []error {
	repaired, _ := compact.Repair(in.Messages, plan.Repair)
	if p.Placement == compact.PlaceSystem {
		out = slices.DeleteFunc(slices.Clone(out), func(m compact.Message) bool { return m.Origin == compact.Added && m.Role.Instruction() })
	}
	if p.Demands.Has(compact.TakeTurns) {
		behind := false
		out = slices.DeleteFunc(slices.Clone(out), func(m compact.Message) bool {
			turn := behind && m.Origin == compact.Added && m.Role == compact.User
			behind = m.Role.Result()
			return turn
		})
	}
	return Strictest(repaired, out)
}

// shapeRules are the rules that can be seen in one list.
var shapeRules = []struct {
	name   string
	broken func([]compact.Message) error
}{
	{"not empty", func(m []compact.Message) error {
		if len(m) == 0 {
			return errors.New("the list has no messages")
		}
		return nil
	}},
	// llama.cpp with Qwen's template answers 500, Anthropic moves it.
	{"instructions first", func(m []compact.Message) error {
		return each(m, func(i int) bool { return i > 0 && m[i].Role.Instruction() })
	}},
	// Mistral refuses it.
	{"no instructions behind an answer", func(m []compact.Message) error {
		return each(m, func(i int) bool {
			return i > 0 && m[i].Role.Instruction() && (m[i-1].Role == compact.Assistant || m[i-1].Role.Result())
		})
	}},
	{"begins with a user", func(m []compact.Message) error {
		return first(m, func(m *compact.Message) bool { return m.Role == compact.User })
	}},
	// Gemini wants a user before a call.
	{"does not begin with a call", func(m []compact.Message) error {
		return first(m, func(m *compact.Message) bool { return len(m.Calls) == 0 })
	}},
	{"no two users in a row", func(m []compact.Message) error {
		return follow(m, func(a, b *compact.Message) bool { return a.Role == compact.User && b.Role == compact.User })
	}},
	{"no two assistants in a row", func(m []compact.Message) error {
		return follow(m, func(a, b *compact.Message) bool {
			return a.Role == compact.Assistant && b.Role == compact.Assistant
		})
	}},
	// Hosted Mistral refuses it.
	{"no user behind a tool", func(m []compact.Message) error {
		return follow(m, func(a, b *compact.Message) bool { return a.Role.Result() && b.Role == compact.User })
	}},
	{"every call answered at once", promises.Pairs},
	{"no content is empty", func(m []compact.Message) error {
		return each(m, func(i int) bool {
			blank := m[i].Shape == compact.Null || m[i].Shape == compact.Absent
			return m[i].Flawed || m[i].Shape == compact.Array && len(m[i].Parts) == 0 || blank && len(m[i].Calls) == 0
		})
	}},
	{"no text is empty", func(m []compact.Message) error {
		return each(m, func(i int) bool {
			return slices.ContainsFunc(m[i].Parts, func(p compact.Part) bool { return p.Kind == compact.KindText && p.Text.Len() == 0 })
		})
	}},
	// Mistral, newer Claude and Bedrock ask for it.
	{"ends with a user or a tool", func(m []compact.Message) error {
		if n := len(m); n > 0 && m[n-1].Role != compact.User && !m[n-1].Role.Result() {
			return fmt.Errorf("message %d (%s)", n-1, m[n-1].Role)
		}
		return nil
	}},
}

// each names the first message that is bad.
func each(msgs []compact.Message, bad func(i int) bool) error {
	for i := range msgs {
		if bad(i) {
			return fmt.Errorf("message %d (%s)", i, msgs[i].Role)
		}
	}
	return nil
}

// first asks something of the first message that is no instruction.
func first(msgs []compact.Message, good func(*compact.Message) bool) error {
	i := slices.IndexFunc(msgs, func(m compact.Message) bool { return !m.Role.Instruction() })
	if i >= 0 && !good(&msgs[i]) {
		return fmt.Errorf("message %d (%s)", i, msgs[i].Role)
	}
	return nil
}

// follow names the first message that may not follow the one before it, where
// templates do not see instructions as turns.
func follow(msgs []compact.Message, bad func(a, b *compact.Message) bool) error {
	last := -1
	for i := range msgs {
		if msgs[i].Role.Instruction() {
			continue
		}
		if last >= 0 && bad(&msgs[last], &msgs[i]) {
			return fmt.Errorf("message %d (%s) behind message %d (%s)", i, msgs[i].Role, last, msgs[last].Role)
		}
		last = i
	}
	return nil
}
