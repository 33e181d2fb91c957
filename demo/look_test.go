package demo

import (
	"strings"
	"testing"

	"laconic/demo/strict"
)

func TestBar(t *testing.T) {
	l := &look{bar: 10, scale: 100}
	f := func(client, sent, budget int, want string) {
		t.Helper()
		if got := l.barOf(client, sent, budget); got != want {
			t.Errorf("%d %d %d: got  %q\nwant %q", client, sent, budget, got, want)
		}
	}
	f(0, 0, 50, "     │    ")
	f(20, 20, 50, "██   │    ")
	f(1, 1, 50, "▏    │    ")
	f(25, 25, 50, "██▌  │    ")
	f(80, 30, 50, "███░░│░░  ")
	f(81, 35, 50, "███▌░│░░░ ")
	f(90, 60, 50, "█████│░░░ ")
	f(500, 20, 50, "██░░░│░░░░") // beyond the scale
	f(20, 20, 500, "██       │") // the budget, too
	l.color = true
	f(30, 10, 50, "\x1b[32m█\x1b[0m\x1b[2m░░\x1b[0m  \x1b[33;1m│\x1b[0m    ")
	f(90, 60, 50, "\x1b[31m█████\x1b[0m\x1b[33;1m│\x1b[0m\x1b[2m░░░\x1b[0m ")
}

func TestNumbers(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(short(0), "0")
	f(short(999), "999")
	f(short(1000), "1.0k")
	f(short(99_949), "99.9k")
	f(short(99_950), "100k")
	f(short(999_499), "999k")
	f(short(999_500), "1.0M")
	f(fit("abc", 5), "abc  ")
	f(fit("abcdef", 5), "abcd…")
	f(strings.Join(wrap("one two three", 7), "|"), "one two|three")
}

// Messages cost 10 each here, tools 5.
func TestDropOldest(t *testing.T) {
	f := func(roles string, budget int, want string) {
		t.Helper()
		req := strict.Request{ToolTokens: 5}
		for _, r := range roles {
			role := map[rune]string{'s': "system", 'u': "user", 'a': "assistant", 't': "tool"}[r]
			req.Messages = append(req.Messages, strict.Message{Role: role, Tokens: 10})
			req.MessageTokens += 10
		}
		kept := dropOldest(req, budget)
		got := ""
		for _, m := range kept.Messages {
			got += m.Role[:1]
		}
		if got != want || kept.PromptTokens() != 5+10*len(want) {
			t.Errorf("%s at %d: got %s with %d tokens, want %s", roles, budget, got, kept.PromptTokens(), want)
		}
		for i, r := range roles {
			if req.Messages[i].Role[0] != byte(r) {
				t.Error("the request itself was changed")
			}
		}
	}
	f("suau", 45, "suau")
	f("suau", 44, "sau")
	f("suatau", 45, "sau") // a result does not stand first
	f("suattt", 20, "st")  // the last message always stays
	f("u", 1, "u")
}

func TestEpochsAreChangedBeginnings(t *testing.T) {
	a, b, c := strict.Message{Text: "a"}, strict.Message{Text: "b"}, strict.Message{Text: "c"}
	f := func(before, now []strict.Message, want bool) {
		t.Helper()
		if got := extends(before, now); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	f(nil, []strict.Message{a}, true)
	f([]strict.Message{a, b}, []strict.Message{a, b, c}, true)
	f([]strict.Message{a, b}, []strict.Message{a, c, b}, false)
	f([]strict.Message{a, b}, []strict.Message{a}, false)
}
