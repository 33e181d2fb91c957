package prompt

import (
	"fmt"
	"iter"
	"regexp"
	"strings"

	"laconic/compact"
	"laconic/compact/quote"
	"laconic/proxy/summarize/redact"
)

// Render writes messages as blocks of text, one for each message, as a model
// is to read them: who speaks, the text, the calls with their arguments, the
// results. Media are named, not sent. mask takes out what looks like a secret.
// They are written one by one, so that the caller can stop between two.
func Render(msgs []compact.Message, mask bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		tools := map[string]string{} // what was called, by id: ids repeat, the last call counts
		for i := range msgs {
			m := &msgs[i]
			for c := range m.Calls {
				tools[m.Calls[c].ID] = m.Calls[c].Name
			}
			body := fenced(bodyOf(m))
			if mask {
				body = redact.Text(body)
			}
			if !yield(headOf(m, tools) + ">\n" + body + "</message>\n") {
				return
			}
		}
	}
}

// Earlier returns a summary as a block of a transcript, for one that is too long
// to be shown with every piece.
func Earlier(text string) string {
	return "<message role=\"summary\" of=\"what came before\">\n" + fenced(text) + "\n</message>\n"
}

// headOf returns the tag in front of a message, without its end.
func headOf(m *compact.Message, tools map[string]string) string {
	head := "<message role=\"" + m.RoleName() + "\""
	if m.Role.Result() {
		name, named := compact.NameIn(m.Answers)
		if !named {
			name = tools[m.Answers]
		}
		if name != "" {
			head += fmt.Sprintf(" of=%q", clipped(fenced(name), 64))
		}
	}
	return head
}

func bodyOf(m *compact.Message) string {
	var b strings.Builder
	line := func(s string) {
		if s != "" {
			b.WriteString(s)
			if !strings.HasSuffix(s, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case compact.KindText, compact.KindRefusal:
			line(p.Text.String())
		case compact.KindImage:
			line("[an image]")
		case compact.KindAudio:
			line("[a sound]")
		case compact.KindVideo:
			line("[a video]")
		case compact.KindFile:
			line(strings.TrimSuffix("[a file: "+clipped(p.Detail, 200), ": ") + "]")
		}
	}
	line(m.Refusal.String())
	for i := range m.Calls {
		line("call: " + m.Calls[i].Name + " " + m.Calls[i].Arguments.String())
	}
	return b.String()
}

// tags are those that fence data here.
var tags = regexp.MustCompile(`(?i)<(\s*/?\s*(?:transcript|message|summary|task)\b)`)

// fenced returns a text that cannot end the tag around it.
func fenced(s string) string { return tags.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "‹$1") }

// clipped returns at most n bytes of a text, with a mark where it was cut.
func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return quote.First(s, n) + "…"
}

// TextOf returns the text of messages, a line for each part. It is a copy and
// does not keep alive what the messages were read from.
func TextOf(msgs ...*compact.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		for i := range m.Parts {
			if m.Parts[i].Kind == compact.KindText {
				b.WriteString(m.Parts[i].Text.String())
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
