package prompt

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Answer is what a model gave back.
type Answer struct {
	Text   string
	Finish string // the finish reason
	Calls  int    // tool calls in it
}

// Refused says in a word why an answer was not taken. It is for logs and
// counters, and holds no content.
type Refused string

// Error is the word.
func (r Refused) Error() string { return string(r) }

// The reasons. Models of all sizes give all of these; small ones an empty
// answer most of the time.
const (
	Empty      = Refused("empty")       // nothing, or only reasoning
	Short      = Refused("short")       // fewer than 40 characters: an excuse
	CalledTool = Refused("tool_call")   // it went on with the work
	CutOff     = Refused("length")      // its own limit ended it
	Unfinished = Refused("finish")      // another end than stop
	Longer     = Refused("longer")      // not shorter than what it stands for
	TooLarge   = Refused("too_large")   // it does not fit into its slot
	NoText     = Refused("not_text")    // a page, or bytes that are no text
	Unreadable = Refused("unreadable")  // the body of the answer is not what it should be
	TooLong    = Refused("source_long") // the transcript is too long to be asked about
)

// leastChars is the length of an answer that may be a summary.
const leastChars = 40

// Accept gives the text of an answer, or why it is not taken. source is what
// the text stands for, in tokens; size what it may take in its frame.
func Accept(a Answer, source, size int, cost func(string) int) (string, error) {
	text := a.Text
	if !utf8.ValidString(text) {
		return "", NoText
	}
	text = strings.TrimSpace(cleaned(withoutThoughts(text)))
	switch {
	case a.Calls > 0 || a.Finish == "tool_calls" || a.Finish == "function_call":
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

// control are words that chat templates give a meaning to. A transcript may
// hold them and a model may repeat them.
var control = strings.NewReplacer("<|", "< |", "|>", "| >", "[INST]", "(INST)", "[/INST]", "(/INST)",
	"<<SYS>>", "< <SYS> >", "<start_of_turn>", "(start_of_turn)", "<end_of_turn>", "(end_of_turn)",
	"<s>", "(s)", "</s>", "(/s)")

// cleaned takes out what has no place in a text: control characters, and the
// control words of chat templates.
func cleaned(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
	return control.Replace(s)
}
