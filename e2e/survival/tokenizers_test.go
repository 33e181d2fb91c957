package survival

import (
	"strings"
	"sync"

	"laconic/demo/strict"
	"laconic/tokenize"
)

// tokenizer is how the model of a session counts a text. The proxy does not
// know it: no name of a session's model is in its table.
type tokenizer struct {
	name string
	text func(string) int
}

var tokenizers = []tokenizer{
	{"bytes/4", func(s string) int { return (len(s) + 3) / 4 }},
	{"bytes/3", func(s string) int { return (len(s) + 2) / 3 }},
	{"cl100k", remembered(named("cl100k_base"))},
	{"o200k", remembered(named("o200k_base"))},
	{"digits", remembered(everyDigit(named("o200k_base")))},
}

// claudeCounts is about how Anthropic's newest models count. The tokenizer that it published
// makes 1.04 tokens of one of o200k_base in Claude Code's tools and 1.2 in its listings,
// and the newest makes at most 1.35 of one of those before. This makes as many of both,
// and more of numbers.
var claudeCounts = tokenizer{"claude", remembered(times(135, everyDigit(named("o200k_base"))))}

// times counts percent of what count does.
func times(percent int, count func(string) int) func(string) int {
	return func(s string) int { return (count(s)*percent + 99) / 100 }
}

func named(name string) func(string) int {
	c, err := tokenize.For("").Named(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return c.Text
}

// everyDigit counts each digit as a token, as Qwen's and Gemini's models do.
func everyDigit(count func(string) int) func(string) int {
	return func(s string) int {
		n := 0
		for s != "" {
			end := strings.IndexAny(s, "0123456789")
			if end < 0 {
				return n + count(s)
			}
			if end > 0 {
				n += count(s[:end])
			}
			for end < len(s) && s[end] >= '0' && s[end] <= '9' {
				n, end = n+1, end+1
			}
			s = s[end:]
		}
		return n
	}
}

// remembered counts a long text once.
func remembered(count func(string) int) func(string) int {
	var known sync.Map
	return func(s string) int {
		if len(s) < 500 {
			return count(s)
		}
		if n, ok := known.Load(s); ok {
			return n.(int)
		}
		n := count(s)
		known.Store(s, n)
		return n
	}
}

// message is what a message costs: its texts, and four tokens around each.
func (t tokenizer) message(m strict.Message) int {
	n := 4 + t.text(m.Text)
	for _, c := range m.Calls {
		n += 4 + t.text(c.Name) + t.text(c.Arguments)
	}
	return n
}

// tools is what the JSON of the tools costs: templates write it as it is.
func (t tokenizer) tools(json []byte) int { return t.text(string(json)) }
