package tokenize

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestTextCostsItsBytesRoundedUp(t *testing.T) {
	f := func(tokenizer, text string, want int) {
		t.Helper()
		c := named(t, tokenizer)
		if got := c.Text(text); got != want {
			t.Errorf("%s: Text(%q) = %d, want %d", tokenizer, text, got, want)
		}
		if got := c.Bytes(len(text)); got != want {
			t.Errorf("%s: Bytes(%d) = %d, want %d", tokenizer, len(text), got, want)
		}
	}
	f("bytes/4", "", 0)
	f("bytes/4", "a", 1)
	f("bytes/4", "abcd", 1)
	f("bytes/4", "abcde", 2)
	f("bytes/3.5", "abcdefg", 2)  // 7 / 3.5
	f("bytes/3.5", "abcdefgh", 3) // 8 / 3.5 = 2.29
	f("bytes/3", "abc", 1)
	f("bytes/3", "日本", 2) // 6 bytes, whatever they spell
	f("bytes/3", "\xff\xfe\x00\x80", 2)
}

func TestNoLengthOverflowsOrTurnsNegative(t *testing.T) {
	for _, row := range tokenizers {
		c := named(t, row.name)
		for _, n := range []int{math.MinInt, -1, 0} {
			if got := c.Bytes(n); got != 0 {
				t.Errorf("%s: Bytes(%d) = %d, want 0", row.name, n, got)
			}
		}
		if got, prose := c.Bytes(math.MaxInt), math.MaxInt/5; got < prose {
			t.Errorf("%s: Bytes(MaxInt) = %d, want above %d", row.name, got, prose)
		}
	}
}

func TestFraming(t *testing.T) {
	f := func(model string, want ...int) {
		t.Helper()
		c := For(model)
		if got := []int{c.Envelope(), c.Result(), c.Call(), c.Priming()}; !slices.Equal(got, want) {
			t.Errorf("%s: Envelope, Result, Call, Priming = %v, want %v", model, got, want)
		}
	}
	f("gpt-4o", 4, 4, 14, 3) // 3 and the role (OpenAI's cookbook)
	f("gpt-4", 4, 4, 14, 3)
	f("gpt-oss-20b", 4, 4, 14, 103)
	f("claude-sonnet-4-5", 8, 0, 12, 3)
	f("llama3.1:8b", 5, 4, 12, 28)
	f("", 8, 0, 12, 28)
	if got := For("gpt-4o").Speaker(""); got != 0 {
		t.Errorf("no name costs %d", got)
	}
	if got := For("gpt-4o").Speaker("bob"); got != 1+For("gpt-4o").Text("bob") {
		t.Errorf("a name costs %d", got)
	}
}

// OpenAI's cookbook ("How to count tokens with tiktoken", sections 6 and 7) shows what its API billed for two
// requests, by model.
func TestOpenAIsOwnExamples(t *testing.T) {
	type message struct{ role, name, content string }
	f := func(model string, want int, tools string, messages ...message) {
		t.Helper()
		c := For(model)
		got := c.Priming() + c.Tools([]byte(tools))
		for _, m := range messages {
			got += c.Envelope() + c.Speaker(m.name) + c.Text(m.content)
		}
		if got != want {
			t.Errorf("%s: %d tokens, billed were %d", model, got, want)
		}
	}
	jargon := []message{
		{"system", "", "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
		{"system", "example_user", "New synergies will help drive top-line growth."},
		{"system", "example_assistant", "Things working well together will increase revenue."},
		{"system", "example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."},
		{"system", "example_assistant", "Let's talk later when we're less busy about how to do better."},
		{"user", "", "This late pivot means we don't have time to boil the ocean for the client deliverable."},
	}
	f("gpt-3.5-turbo", 129, "", jargon...)
	f("gpt-4-0613", 129, "", jargon...)
	f("gpt-4o", 124, "", jargon...)
	f("gpt-4o-mini", 124, "", jargon...)
	weather := []message{
		{"system", "", "You are a helpful assistant that can answer to questions about the weather."},
		{"user", "", "What's the weather like in San Francisco?"},
	}
	f("gpt-3.5-turbo", 105, weatherTools, weather...)
	f("gpt-4", 105, weatherTools, weather...)
	f("gpt-4o", 101, weatherTools, weather...)
	f("gpt-4o-mini", 101, weatherTools, weather...)
}

func TestUnknownNameIsOneSentence(t *testing.T) {
	for name, shown := range map[string]string{"byte/3": "byte/3", "": "", strings.Repeat("bytes", 1_000_000): strings.Repeat("bytes", 12) + "byte"} {
		c, err := For("").Named(name)
		want := `unknown tokenizer "` + shown + `" (known: ` + strings.Join(Names(), ", ") + ")"
		if c != nil || err.Error() != want {
			t.Errorf("got  %v, %.500s\nwant %s", c, err, want)
		}
	}
}

func named(t testing.TB, name string) *Counter {
	t.Helper()
	c, err := For("").Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
