package replay

import (
	"regexp"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/replay/record"
	"laconic/replay/replaytest"
)

// TestPlantedSentences: half of them have the usual words of a rule, half have
// none, and none occurs twice.
func TestPlantedSentences(t *testing.T) {
	usual := regexp.MustCompile(`(?i)\b(never|must|always|only|required|unless|do not|don't|before you)\b`)
	seen := map[string]bool{}
	for i, s := range sentences {
		if got, want := usual.MatchString(s), i < len(sentences)/2; got != want {
			t.Errorf("%q has a usual word: %v", s, got)
		}
		if seen[s] {
			t.Errorf("%q is there twice", s)
		}
		seen[s] = true
	}
}

// TestPlaces: where sentences are planted, and where not.
func TestPlaces(t *testing.T) {
	f := func(transcript string, seed int, want [places]int) {
		t.Helper()
		msgs, err := compacttest.Parse(transcript)
		if err != nil {
			t.Fatal(err)
		}
		v := &conversation{Conversation: &record.Conversation{Messages: msgs}}
		if got := v.places(seed); got != want {
			t.Errorf("%v, want %v in\n%s", got, want, transcript)
		}
	}
	f("user: a\nassistant: b\nuser: c", 0, [places]int{-1, -1})
	const long = "system: a\nuser: b\nassistant: c | call c1 f x\ntool c1: d\nassistant: e | call c2 f x\ntool c2: d\n" +
		"assistant: e | call c3 f x\ntool c3: d\nassistant: f | call c4 f x\ntool c4: d\nuser: g\nassistant: h\nuser: i\nassistant: j\nuser: k\nassistant: l\nuser: m"
	f(long, 0, [places]int{10, 3})
	f(long, 1, [places]int{12, 5})
	f(long, 2, [places]int{10, 3})
}

// TestWithSentence: on a line of its own, and not within JSON.
func TestWithSentence(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		m := compact.Message{Parts: []compact.Part{{Text: compact.Plain(text)}}}
		before := m
		if !withSentence(&m, "Stay.") || m.Parts[0].Text.String() != want {
			t.Errorf("%q, want %q", m.Parts[0].Text.String(), want)
		}
		if before.Parts[0].Text.String() != text {
			t.Error("the recording was changed")
		}
	}
	f("one", "one\nStay.")
	f("one\ntwo three four\nfive", "one\ntwo three four\nStay.\nfive")
	f("{\n\"one\":\n2}\n", "{\n\"one\":\n2}\n\nStay.")
	if withSentence(&compact.Message{}, "Stay.") {
		t.Error("planted into nothing")
	}
}

// TestCopiesLeaveTheRecording: nothing is planted into the recording itself.
func TestCopiesLeaveTheRecording(t *testing.T) {
	msgs, err := compacttest.Parse("user: a\nassistant: b\nuser: c\nassistant: d\nuser: e")
	if err != nil {
		t.Fatal(err)
	}
	v := prepare(&record.Conversation{Messages: msgs}, compacttest.Words{}, DefaultPrices)
	for _, c := range v.copies {
		if c.Messages[2].Equal(&v.Messages[2]) || len(c.plants) != 1 || c.costs[2] <= v.costs[2] {
			t.Errorf("nothing was planted: %+v", c.plants)
		}
	}
	if len(v.copies) != 4 || v.Messages[2].Parts[0].Text.String() != "c" || v.costs[2] != 1 {
		t.Error("the recording was changed")
	}
}

// TestConstraintsOfAPolicy: what was rewritten is lost, what stayed or is quoted
// survives.
func TestConstraintsOfAPolicy(t *testing.T) {
	text := strings.Repeat("word ", 200)
	file := replaytest.Write(t, "a.jsonl", `{"id":"a","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},`+
		`{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"`+text+`"},`+
		`{"role":"assistant","content":"a"},{"role":"user","content":"v"},`+
		`{"role":"assistant","tool_calls":[{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"`+text+`"},`+
		`{"role":"assistant","content":"b"},{"role":"user","content":"w"},{"role":"assistant","content":"c"}]}`)
	f := func(p Policy, results int) {
		t.Helper()
		want := Constraints{User: Survival{4, 4}, Results: Survival{4, results}}
		if got := replayed1(t, p, Budget{Tokens: 250}, file).Constraints; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	f(rewriting("gone"), 0)
	f(rewriting(strings.Join(sentences[:10], "\n  ")), 4)
}
