package demo

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func told(t *testing.T) []beat {
	t.Helper()
	beats, err := tellStory(storyText, openWorkspace(parceldArchive))
	if err != nil {
		t.Fatal(err)
	}
	return beats
}

func TestTheStoryHasEverythingThatAShowNeeds(t *testing.T) {
	beats := told(t)
	ids := map[string]bool{}
	users, asides, interrupted, parallel := 0, 0, 0, 0
	for _, b := range beats {
		if b.user != "" {
			users++
			continue
		}
		if b.agent == "" {
			t.Error("a request without an answer")
		}
		if b.aside != "" {
			asides++
		}
		if len(b.calls) > 1 {
			parallel++
		}
		for _, c := range b.calls {
			var args map[string]any
			if json.Unmarshal([]byte(c.arguments), &args) != nil || c.result == "" || len(c.id) > 40 || ids[c.id] {
				t.Errorf("bad call %+v", c)
			}
			if !utf8.ValidString(c.result) {
				t.Errorf("%s %s: the result is not UTF-8", c.name, c.arguments)
			}
			ids[c.id] = true
			if c.interrupted {
				interrupted++
			}
		}
	}
	if n := requests(beats); n < 40 || n > 60 {
		t.Errorf("%d requests, want 40 to 60", n)
	}
	if users < 5 || asides != 1 || interrupted != 1 || parallel < 20 {
		t.Errorf("%d users, %d asides, %d interrupted, %d parallel", users, asides, interrupted, parallel)
	}
	if n := storyTokens(beats, 0); n < 60_000 || n > 80_000 {
		t.Errorf("%d tokens, want 60,000 to 80,000", n)
	}
	if n := storyTokens(beats, 3); n < 3*Budget/10 || n > Budget {
		t.Errorf("%d tokens after three requests", n)
	}
}

// The results of file tools are not written down but made, so they must fit the story.
func TestTheStoryIsPlayedOnRealFiles(t *testing.T) {
	w := openWorkspace(parceldArchive)
	before := strings.Count(w.files["internal/webhook/dispatcher.go"], "atomic")
	if _, err := tellStory(storyText, w); err != nil {
		t.Fatal(err)
	}
	after := strings.Count(w.files["internal/webhook/dispatcher.go"], "atomic")
	if before != 0 || after == 0 || w.files["internal/store/cursor.go"] == "" {
		t.Error("the edits of the story did not arrive in the files")
	}
}

func TestABrokenStoryIsNamed(t *testing.T) {
	f := func(story, want string) {
		t.Helper()
		_, err := tellStory("head\n===\n"+story, openWorkspace([]byte("-- a.txt --\none\ntwo\none\n")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s…", story, err, want)
		}
	}
	f("nobody: hello", "expected user, agent or aside")
	f("agent: x\n> dance", `no tool "dance"`)
	f("agent: x\n> read b.txt", "no file b.txt")
	f("agent: x\n> grep ( .", "missing closing")
	f("agent: x\n> edit a.txt\n<<<<<<<\none\n=======\n1\n>>>>>>>", "occurs 2 times")
	f("agent: x\n> edit a.txt\n<<<<<<<\n=======\n1\n>>>>>>>", "want once")
	f("agent: x\n> edit a.txt", "expected <<<<<<<")
	f("agent: x\n> edit a.txt\n<<<<<<<\ntwo", "no >>>>>>>")
	f("aside: many\nwhat?", "invalid syntax")
}
