package prompt

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Answer is the answer of a model.
type Answer struct {
	Text   string
	Finish string // the finish reason
	Called bool   // a tool
}

// Refused is in a word why an answer was not taken. It is for logs and counters,
// and holds no content.
type Refused string

// Error is the word.
func (r Refused) Error() string { return string(r) }

// The reasons. All of them happen with models of all sizes, an empty answer most
// often with small ones.
const (
	Empty      = Refused("empty")       // nothing, or only reasoning
	Short      = Refused("short")       // fewer than 40 characters: an excuse
	CalledTool = Refused("tool_call")   // it went on with the work
	CutOff     = Refused("length")      // its own limit ended it
	Unfinished = Refused("finish")      // another end than stop
	Longer     = Refused("longer")      // not shorter than its source
	TooLarge   = Refused("too_large")   // it does not fit into its slot
	NoText     = Refused("not_text")    // a page
	Unreadable = Refused("unreadable")  // the body is no answer of a chat API
	TooLong    = Refused("source_long") // the transcript is too long to be asked about
)

// leastChars is the length of an answer that may be a summary.
const leastChars = 40

// Accept returns the text of an answer, or why it is not taken. source is the
// size of what it replaces, size the room in its slot, both in tokens.
func Accept(a Answer, source, size int, cost func(string) int) (string, error) {
	text := strings.TrimSpace(cleaned(withoutThoughts(a.Text)))
	switch {
	case a.Called || a.Finish == "tool_calls" || a.Finish == "function_call":
		return "", CalledTool
	case text == "":
		return "", Empty
	case a.Finish == "length":
		return "", CutOff
	case a.Finish != "stop":
		return "", Unfinished
	case utf8.RuneCountInString(text) < leastChars:
		return "", Short
	case page.MatchString(text):
		return "", NoText
	}
	switch n := cost(text); {
	case n >= source:
		return "", Longer
	case n > size:
		return "", TooLarge
	}
	return text, nil
}

// page is the start of a web page: some gateways answer 200 with one.
var page = regexp.MustCompile(`(?i)^\s*<(?:!doctype\s+html|html|\?xml)\b`)

// control replaces the control words of chat templates. A transcript may hold
// them and a model may repeat them.
var control = strings.NewReplacer("<|", "< |", "|>", "| >", "[INST]", "(INST)", "[/INST]", "(/INST)",
	"<<SYS>>", "< <SYS> >", "<start_of_turn>", "(start_of_turn)", "<end_of_turn>", "(end_of_turn)",
	"<s>", "(s)", "</s>", "(/s)")

// cleaned returns s without control characters and without the control words of
// chat templates.
func cleaned(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
	return control.Replace(s)
}
