package compacttest

import (
	"strings"
	"testing"

	"laconic/compact"
)

// TestRulesThatTheInputKeptAreReported: a rule that the client broke itself is
// no complaint; one that it kept is.
func TestRulesThatTheInputKeptAreReported(t *testing.T) {
	f := func(in, out string, want ...string) {
		t.Helper()
		a := Messages(t, strings.ReplaceAll(in, "; ", "\n"))
		b := Messages(t, strings.ReplaceAll(out, "; ", "\n"))
		for i := range b {
			b[i].Edited = true
			if len(a) != len(b) {
				b[i].Origin = compact.Added // the lists cannot be laid side by side
			}
		}
		var got []string
		for _, err := range rulesBroken(&compact.Policy{}, a, b) {
			rule, _, _ := strings.Cut(err.Error(), ":")
			got = append(got, rule)
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%s\n→ %s\nreports %q, want %q", in, out, got, want)
		}
	}
	const legal = "system: s; user: u; assistant: | call c r {}; tool c: t; assistant: a; user: v"
	f(legal, legal)
	f(legal, "", "not empty")
	f(legal, "user: u; system: s; assistant: a; user: v", "instructions first")
	f(legal, "user: u; assistant: a; system: s; user: v", "instructions first", "no instructions behind an answer")
	f("user: u; system: s; assistant: a; user: v", "user: u; assistant: a; system: s; user: v", "no instructions behind an answer")
	f(legal, "system: s; assistant: a; user: v", "begins with a user")
	f(legal, "system: s; assistant: | call c r {}; tool c: t; assistant: a; user: v", "begins with a user", "does not begin with a call")
	f(legal, "user: u; user: v", "no two users in a row")
	f("user: u; user: v; assistant: a; user: w", "user: u; user: w")
	f(legal, "user: u; system: s; user: v", "instructions first", "no two users in a row")
	f(legal, "user: u; assistant: a; assistant: b; user: v", "no two assistants in a row")
	f(legal, "user: u; assistant: | call c r {}; tool c: t; user: v", "no user behind a tool")
	f(legal, "user: u; assistant: | call c r {}; assistant: a; user: v", "no two assistants in a row", "every call answered at once")
	f(legal, "user: u; assistant: | call c r {}; tool d: t; assistant: a; user: v", "every call answered at once")
	f(legal, "system: s; user: u; assistant: | call c r {}; tool c: t; tool c: t; assistant: a; user: v", "every call answered at once")
	f(legal, "user: u; tool c: t; assistant: a; user: v", "every call answered at once")
	f(legal, "user: u; assistant [null]: ; user: v", "no content is empty")
	f(legal, "user [array]: ; assistant: a; user: v", "no content is empty")
	f(legal, "user: u; assistant: a; user: ", "no text is empty")
	f(legal, "user: u; assistant: a", "ends with a user or a tool")
}
