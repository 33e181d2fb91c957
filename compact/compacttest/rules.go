package compacttest

import (
	"errors"
	"fmt"
	"slices"

	"laconic/compact"
	"laconic/compact/promises"
)

// rulesBroken compares what was sent with what came in, after repair, by the strictest
// rules that any upstream is known to have (chat templates of Mistral, Gemma and Qwen,
// Gemini, Bedrock). A client may break them itself, and many upstreams let it; so a
// rule is reported only where what came in kept it and what was sent does not. A
// message that was added counts like any other. A policy that places its slot as a
// system message breaks the rules about system messages by choice, and only those.
// Where roles must alternate, a turn of a user may have been put behind a result.
func rulesBroken(p *compact.Policy, in, out []compact.Message) (errs []error) {
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
	for _, r := range rules {
		if r.broken(in) == nil {
			if err := r.broken(out); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
			}
		}
	}
	return errs
}

// rules are the rules that can be seen in one list.
var rules = []struct {
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
	{"instructions first", each(func(m []compact.Message, i int) bool { return i > 0 && m[i].Role.Instruction() })},
	// Mistral refuses it.
	{"no instructions behind an answer", each(func(m []compact.Message, i int) bool {
		return i > 0 && m[i].Role.Instruction() && (m[i-1].Role == compact.Assistant || m[i-1].Role.Result())
	})},
	{"begins with a user", first(func(m *compact.Message) bool { return m.Role == compact.User })},
	// Gemini wants a user before a call.
	{"does not begin with a call", first(func(m *compact.Message) bool { return len(m.Calls) == 0 })},
	{"no two users in a row", follow(func(a, b *compact.Message) bool { return a.Role == compact.User && b.Role == compact.User })},
	{"no two assistants in a row", follow(func(a, b *compact.Message) bool {
		return a.Role == compact.Assistant && b.Role == compact.Assistant
	})},
	// Hosted Mistral refuses it.
	{"no user behind a tool", follow(func(a, b *compact.Message) bool { return a.Role.Result() && b.Role == compact.User })},
	{"every call answered at once", promises.Pairs},
	{"no content is empty", each(func(m []compact.Message, i int) bool {
		blank := m[i].Shape == compact.Null || m[i].Shape == compact.Absent
		return m[i].Flawed || m[i].Shape == compact.Array && len(m[i].Parts) == 0 || blank && len(m[i].Calls) == 0
	})},
	{"no text is empty", each(func(m []compact.Message, i int) bool {
		return slices.ContainsFunc(m[i].Parts, func(p compact.Part) bool { return p.Kind == compact.KindText && p.Text.Len() == 0 })
	})},
	// Mistral, newer Claude and Bedrock ask for it.
	{"ends with a user or a tool", each(func(m []compact.Message, i int) bool {
		return i == len(m)-1 && m[i].Role != compact.User && !m[i].Role.Result()
	})},
}

// each returns a rule that names the first message that is bad.
func each(bad func(m []compact.Message, i int) bool) func([]compact.Message) error {
	return func(m []compact.Message) error {
		for i := range m {
			if bad(m, i) {
				return fmt.Errorf("message %d (%s)", i, m[i].Role)
			}
		}
		return nil
	}
}

// first returns a rule about the first message that is no instruction.
func first(good func(*compact.Message) bool) func([]compact.Message) error {
	return each(func(m []compact.Message, i int) bool {
		return !m[i].Role.Instruction() && before(m, i) < 0 && !good(&m[i])
	})
}

// follow returns a rule that names the first message that may not follow the one before
// it, where templates do not see instructions as turns.
func follow(bad func(a, b *compact.Message) bool) func([]compact.Message) error {
	return each(func(m []compact.Message, i int) bool {
		if m[i].Role.Instruction() { // else a run of them would be walked from each
			return false
		}
		last := before(m, i)
		return last >= 0 && bad(&m[last], &m[i])
	})
}

// before returns the index of the last message before message i that is no instruction,
// or -1 if there is none.
func before(m []compact.Message, i int) int {
	for i--; i >= 0 && m[i].Role.Instruction(); i-- {
	}
	return i
}
