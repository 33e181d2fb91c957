package strict_test

import (
	"strings"
	"testing"

	"laconic/demo/strict"
)

// One letter per message: s system, d developer, u user, a assistant, c assistant with a call, t its result.
func letters(s string) string {
	var all []string
	for _, l := range s {
		all = append(all, map[rune]string{
			's': sys, 'd': `{"role":"developer","content":"x"}`, 'u': user, 'a': asst, 'c': calls("i"), 't': result("i"),
		}[l])
	}
	return chat(all...)
}

func TestAlternatingTakesWhatStrictTemplatesTake(t *testing.T) {
	up := strict.New(strict.Options{Shape: strict.Alternating})
	const (
		first    = "Jinja Exception: System message must be at the beginning."
		turns    = "Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles"
		afterRun = "Unexpected role 'user' after role 'tool'"
		last     = "Expected last role User or Tool"
	)
	f := func(roles string, wantStatus int, wantText string) {
		t.Helper()
		r := up.Check([]byte(letters(roles)))
		switch {
		case r == nil && wantStatus != 200:
			t.Errorf("%s: answered, want %d %s", roles, wantStatus, wantText)
		case r != nil && (r.Status != wantStatus || !strings.Contains(r.Message, wantText)):
			t.Errorf("%s: got %d %s, want %d %s", roles, r.Status, r.Message, wantStatus, wantText)
		}
	}
	f("u", 200, "")
	f("su", 200, "")
	f("suau", 200, "")
	f("sucau", 400, "did not have response messages") // pairs count here too
	f("suctau", 200, "")
	f("suctctct", 200, "")
	f("uauctau", 200, "")
	f("usau", 500, first)
	f("ssu", 500, first)
	f("du", 500, "Only user, assistant and tool roles are supported, got developer")
	f("uu", 500, turns)
	f("au", 500, turns)
	f("sctu", 500, turns) // a call before any user
	f("uaau", 500, turns)
	f("uactau", 500, turns) // calls do not count, so these are two answers in a row
	f("suctu", 400, afterRun)
	f("ua", 400, last)
	f("s", 400, last)
}

func TestAPrefixMayBeLast(t *testing.T) {
	up := strict.New(strict.Options{Shape: strict.Alternating})
	f := func(body string) {
		t.Helper()
		if r := up.Check([]byte(body)); r != nil {
			t.Errorf("refused: %v", r)
		}
	}
	f(chat(user, `{"role":"assistant","content":"Once","prefix":true}`))
	f(strings.Replace(letters("ua"), `{`, `{"continue_final_message":true,`, 1))
}
