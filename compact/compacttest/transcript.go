// Package compacttest tests what compacts conversations. It has transcripts that a
// person can read, a counter whose tokens are words, and a sweep that checks every
// promise on every prefix of a conversation.
//
// A transcript has one message a line:
//
//	system: be brief
//	user: read both files
//	assistant: let me see | call c1 read a.txt | call c2 read b.txt
//	tool c1: one two three
//	tool c2 [array]: four five
//	assistant [sealed]: done
//
// Text may hold \n. An assistant line without text has null content. Marks in
// brackets: absent, null, array (content as such), flawed (tool_calls: []),
// sealed (carries reasoning), bound (carries thinking that is bound to the messages
// before it), open (to be continued), holds (a refusal or the like), kept,
// joined (continues the answer before it), replaces (says all that is before it). "call - name" is a call without an id, "tool -" a result without one;
// "legacy read a.txt" is a function_call, answered by "function read: …".
package compacttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
)

// Messages returns the messages of a transcript, which a test has written.
func Messages(t testing.TB, transcript string) []compact.Message {
	t.Helper()
	msgs, err := Parse(transcript)
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

// Step returns one call and its result of about 700 bytes, as an agent reads file
// after file.
func Step(t testing.TB, i int) []compact.Message {
	t.Helper()
	return Messages(t, fmt.Sprintf("assistant: step %d | call c%d read {\"path\":\"/src/file_%d.go\"}\ntool c%d: %s", i, i, i, i, strings.Repeat(fmt.Sprintf("line %d ", i), 100)))
}

// Steps returns the messages of a transcript, and n steps behind it.
func Steps(t testing.TB, transcript string, n int) []compact.Message {
	t.Helper()
	msgs := Messages(t, transcript)
	for i := range n {
		msgs = append(msgs, Step(t, i)...)
	}
	return Numbered(msgs)
}

// Numbered makes messages those of a client's list, in their order.
func Numbered(msgs []compact.Message) []compact.Message {
	for i := range msgs {
		msgs[i].Origin = i
	}
	return msgs
}

// Parse reads a transcript.
func Parse(transcript string) ([]compact.Message, error) {
	var msgs []compact.Message
	for n, line := range strings.Split(transcript, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		m.Origin = len(msgs)
		msgs = append(msgs, m)
	}
	return msgs, nil
}

func parseLine(line string) (m compact.Message, err error) {
	head, text, ok := strings.Cut(line, ": ")
	if !ok {
		if head, ok = strings.CutSuffix(line, ":"); !ok {
			return m, fmt.Errorf("no colon behind the role in %q", line)
		}
	}
	head, marks, _ := strings.Cut(head, " [")
	name, id, _ := strings.Cut(strings.TrimSpace(head), " ")
	switch m.Role, ok = compact.RoleNamed(name); {
	case name == "function":
		m.Role, m.Answers = compact.Tool, compact.ByName(strings.TrimPrefix(id, "-"))
	case !ok:
		return m, fmt.Errorf("unknown role %q", name)
	default:
		m.Answers = strings.TrimPrefix(id, "-")
	}
	pieces := strings.Split(text, "|")
	text = unescape(strings.TrimSpace(pieces[0]))
	m.Shape = compact.String
	if m.Role == compact.Assistant && text == "" {
		m.Shape = compact.Null
	} else {
		m.Parts = []compact.Part{{Text: compact.Plain(text)}}
	}
	for _, piece := range pieces[1:] {
		f := strings.SplitN(strings.TrimSpace(piece), " ", 4)
		switch {
		case f[0] == "image" && len(f) == 2:
			m.Shape = compact.Array
			m.Parts = append(m.Parts, compact.Part{Kind: compact.KindImage, Text: compact.Plain(f[1])})
		case f[0] == "text" && len(f) >= 2:
			m.Shape = compact.Array
			m.Parts = append(m.Parts, compact.Part{Text: compact.Plain(unescape(strings.Join(f[1:], " ")))})
		case f[0] == "legacy" && len(f) >= 2 && !slices.ContainsFunc(m.Calls, isLegacy): // only one fits into a message
			m.Calls = append(m.Calls, compact.Call{ID: compact.ByName(f[1]), Name: f[1], Arguments: compact.Plain(strings.Join(f[2:], " "))})
		case f[0] == "call" && len(f) >= 3:
			m.Calls = append(m.Calls, compact.Call{ID: strings.TrimPrefix(f[1], "-"), Name: f[2], Arguments: compact.Plain(unescape(strings.Join(f[3:], " ")))})
		default:
			return m, fmt.Errorf("cannot read %q", piece)
		}
	}
	if len(m.Calls) > 0 && m.Role != compact.Assistant {
		return m, fmt.Errorf("only an assistant can call")
	}
	for mark := range strings.SplitSeq(strings.Trim(marks, "] "), ",") {
		switch strings.TrimSpace(mark) {
		case "":
		case "absent":
			m.Shape, m.Parts = compact.Absent, nil
		case "null":
			m.Shape, m.Parts = compact.Null, nil
		case "array":
			m.Shape = compact.Array
			if text == "" {
				m.Parts = nil
			}
		case "string":
			m.Shape = compact.String
			if m.Parts == nil {
				m.Parts = []compact.Part{{Text: compact.Plain("")}}
			}
		case "sealed":
			m.Seal |= compact.SealText | compact.SealArguments
		case "bound":
			m.Seal |= compact.SealBound
			m.Reasoning = compact.Plain("so I thought")
		default:
			field := map[string]*bool{
				"flawed": &m.Flawed, "open": &m.Open, "holds": &m.Holds, "kept": &m.Kept, "joined": &m.Joined, "replaces": &m.Replaces,
			}[strings.TrimSpace(mark)]
			if field == nil {
				return m, fmt.Errorf("unknown mark %q", mark)
			}
			*field = true
		}
	}
	return m, nil
}

// isLegacy reports whether a call is a function_call, which has no id.
func isLegacy(c compact.Call) bool {
	_, byName := compact.NameIn(c.ID)
	return byName
}

// Format writes messages as a transcript. Synthetic results are written by
// their text like any other.
func Format(msgs []compact.Message) string {
	var b strings.Builder
	for i := range msgs {
		m := &msgs[i]
		b.WriteString(m.RoleName())
		if m.Role.Result() {
			id, _ := compact.NameIn(m.Answers)
			b.WriteString(" " + cmp.Or(id, "-"))
		}
		if marks := marksOf(m); len(marks) > 0 {
			b.WriteString(" [" + strings.Join(marks, ", ") + "]")
		}
		b.WriteString(":")
		for k, p := range m.Parts {
			switch text := p.Text.String(); {
			case p.Kind == compact.KindImage:
				b.WriteString(" | image " + text)
			case k > 0 || p.Kind != compact.KindText:
				b.WriteString(" | text " + escape(text))
			case text != "":
				b.WriteString(" " + escape(text))
			}
		}
		for _, c := range m.Calls {
			kind := "call " + cmp.Or(c.ID, "-")
			if _, named := compact.NameIn(c.ID); named {
				kind = "legacy"
			}
			b.WriteString(strings.TrimRight(" | "+kind+" "+c.Name+" "+escape(c.Arguments.String()), " "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func marksOf(m *compact.Message) []string {
	var marks []string
	add := func(on bool, mark string) {
		if on {
			marks = append(marks, mark)
		}
	}
	add(m.Shape == compact.Absent, "absent")
	add(m.Shape == compact.Null && m.Role != compact.Assistant, "null")
	add(m.Shape == compact.Array && len(m.Parts) < 2, "array")
	add(m.Shape == compact.String && m.Role == compact.Assistant && len(m.Parts) == 1 && m.Parts[0].Text.Len() == 0, "string")
	add(m.Flawed, "flawed")
	add(m.Seal&^compact.SealBound != 0, "sealed")
	add(m.Bound(), "bound")
	add(m.Open, "open")
	add(m.Holds, "holds")
	return marks
}

func escape(s string) string   { return strings.ReplaceAll(s, "\n", `\n`) }
func unescape(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }

// Words is a counter for tests: a token is a word, framing costs nothing, and
// an image costs ten. A reader checks the arithmetic by eye.
type Words struct{}

// Envelope is the cost of the reasoning that travels with a message.
func (Words) Envelope(m *compact.Message) int { return words(m.Reasoning.String()) }

// Part counts words.
func (Words) Part(_ *compact.Message, p *compact.Part) int {
	if p.Kind != compact.KindText && p.Kind != compact.KindRefusal {
		return 10
	}
	return words(p.Text.String())
}

// Call counts the words of name and arguments.
func (Words) Call(c *compact.Call) int { return words(c.Name) + words(c.Arguments.String()) }

// Fixed counts words.
func (Words) Fixed(b compact.Beside) int {
	return words(string(b.Tools)) + words(string(b.Functions)) + words(string(b.Format))
}

// Exact is true: a word is a word.
func (Words) Exact() bool { return true }

func words(s string) int { return len(strings.Fields(s)) }

// Bytes is a counter for tests and for measuring: a message costs eight tokens and a
// token for every 3.5 bytes it holds; an image costs 512. Names and the ids of results
// cost nothing, and counts are exact, because tests want to see that trigger.
type Bytes struct{ compact.Estimator }

// Envelope is eight tokens and the reasoning.
func (Bytes) Envelope(m *compact.Message) int { return 8 + m.Reasoning.Len()*2/7 }

// Exact is true.
func (Bytes) Exact() bool { return true }

// Wrapped returns a text in the ways in which agents write the text of a tool result.
func Wrapped(text string) map[string]string {
	wrap := func(before, text, behind string) string {
		raw, _ := json.Marshal(text) // of a string, which cannot fail
		return before + string(raw) + behind
	}
	parts := wrap(`[{"text":`, text, `,"type":"text"}]`)
	return map[string]string{
		"plain":  text,
		"json":   wrap(`{"metadata":{"exit_code":0},"output":`, text, "}"),
		"parts":  parts,
		"nested": wrap(`{"output":`, parts, "}"),
	}
}
