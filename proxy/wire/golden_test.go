package wire_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/proxy/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenFile has the stories of an API.
func goldenFile(w wire.Wire) string { return "testdata/" + w.Name() + ".txtar" }

// TestGolden runs the stories of each API. A case NAME has
//
//	NAME/request   a body
//	NAME/reads     what was decoded, or why it was passed
//	NAME/edits     what is done to the messages (see edit), if anything
//	NAME/sends     the body that goes out, or why it cannot be written
//
// A case without edits must send the very slice that came in, and one whose
// messages are all marked Edited but did not change must send the same bytes.
func TestGolden(t *testing.T) {
	for _, w := range wire.All {
		archive, err := txtar.ParseFile(goldenFile(w))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stories(t, archive) {
			t.Run(w.Name()+"/"+s.name, func(t *testing.T) {
				reads, sends := s.run(t, w)
				s.golden(t, "reads", reads)
				if s.file("edits") != nil {
					s.golden(t, "sends", sends)
				}
			})
		}
		if *update {
			if err := os.WriteFile(goldenFile(w), txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// story is one case of the archive.
type story struct {
	name  string
	files []*txtar.File
}

func stories(t testing.TB, archive *txtar.Archive) []*story {
	var all []*story
	for i := range archive.Files {
		f := &archive.Files[i]
		name, section, ok := strings.Cut(f.Name, "/")
		if !ok || !slices.Contains([]string{"request", "reads", "edits", "sends"}, section) {
			t.Fatalf("%s is no section of a case", f.Name)
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &story{name: name})
		}
		s := all[len(all)-1]
		s.files = append(s.files, f)
	}
	return all
}

func (s *story) file(section string) *txtar.File {
	for _, f := range s.files {
		if f.Name == s.name+"/"+section {
			return f
		}
	}
	return nil
}

// golden compares a section with what came out, or rewrites it.
func (s *story) golden(t *testing.T, section, got string) {
	t.Helper()
	f := s.file(section)
	if f == nil {
		t.Fatalf("no section %s", section)
	}
	if *update {
		f.Data = []byte(got + "\n")
	} else if want := strings.TrimSuffix(string(f.Data), "\n"); got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", section, got, want)
	}
}

// body is the request of a case, without the last end of line, which belongs
// to the archive.
func (s *story) body() []byte {
	return []byte(strings.TrimSuffix(string(s.file("request").Data), "\n"))
}

func (s *story) run(t *testing.T, w wire.Wire) (reads, sends string) {
	body := s.body()
	r, err := w.Decode(body)
	if err != nil {
		var pass *wire.PassError
		if !errors.As(err, &pass) {
			t.Fatalf("%v is no *PassError", err)
		}
		return fmt.Sprintf("passed, %s: %v", pass.Reason, pass), ""
	}
	unedited(t, r)
	reads = describe(r)
	if f := s.file("edits"); f != nil {
		msgs := slices.Clone(r.Conversation.Messages)
		for line := range strings.Lines(string(f.Data)) {
			if msgs, err = edit(msgs, strings.TrimSpace(line)); err != nil {
				t.Fatal(err)
			}
		}
		out, err := r.Encode(msgs)
		if err != nil {
			return reads, err.Error()
		}
		sends = string(out)
		again(t, w, out, msgs)
	}
	if string(body) != string(s.body()) {
		t.Error("the client's bytes were written to")
	}
	return reads, sends
}

// edit does one thing to a list of messages. N counts messages as they stand
// then, and N.M parts or calls:
//
//	text N.M "…"     another text of a part; a part of another kind becomes text
//	append N "…"     one more text part
//	prepend N "…"    the same before the client's parts
//	split N.M        call M and those after it get a message of their own, without results
//	say N "…"        the same where there is no content
//	unpart N.M       a part leaves
//	drop N           a message leaves
//	swap N           message N and the next change places
//	add N ROLE "ID" "…"  a new message stands at N
//	id N.M "…"       another id of a call
//	arguments N.M "…"    other arguments of a call
//	uncall N.M       a call leaves
//	answers N "…"    a result answers another call
//	clear N          the empty list of calls leaves
//	role N ROLE      another role, which cannot be written
func edit(msgs []compact.Message, line string) ([]compact.Message, error) {
	words := strings.SplitN(line, " ", 3)
	if len(words) < 2 {
		return nil, fmt.Errorf("%q is no edit", line)
	}
	at, sub, _ := strings.Cut(words[1], ".")
	n, err := strconv.Atoi(at)
	if err != nil {
		return nil, fmt.Errorf("%q: %v", line, err)
	}
	k, _ := strconv.Atoi(sub)
	rest := ""
	if len(words) == 3 {
		rest = words[2]
	}
	text, _ := strconv.Unquote(rest)
	switch words[0] {
	case "drop":
		return slices.Delete(slices.Clone(msgs), n, n+1), nil
	case "swap":
		msgs = slices.Clone(msgs)
		msgs[n], msgs[n+1] = msgs[n+1], msgs[n]
		return msgs, nil
	case "add":
		var role, id string
		if _, err := fmt.Sscanf(rest, "%s %q %q", &role, &id, &text); err != nil {
			return nil, fmt.Errorf("%q: %v", line, err)
		}
		m := compact.Message{Shape: compact.String, Answers: id, Origin: compact.Added, Edited: true}
		if m.Role, _ = compact.RoleNamed(role); role == "function" {
			m.Role, m.Answers = compact.Tool, compact.ByName(id)
		}
		m.Parts = []compact.Part{{Text: compact.Plain(text)}}
		return slices.Insert(slices.Clone(msgs), n, m), nil
	}
	m := &msgs[n]
	m.Edited = true
	m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	switch words[0] {
	case "text":
		m.Parts[k] = compact.Part{Nth: m.Parts[k].Nth, Text: compact.Plain(text)}
	case "append":
		m.Parts = append(m.Parts, compact.Part{Text: compact.Plain(text)})
	case "prepend":
		m.Parts = slices.Insert(m.Parts, 0, compact.Part{Text: compact.Plain(text)})
	case "split":
		rest := compact.Message{Role: m.Role, Shape: compact.Null, Calls: m.Calls[k:], Origin: m.Origin, Edited: true, Rest: true}
		m.Calls = m.Calls[:k]
		return slices.Insert(slices.Clone(msgs), n+1, rest), nil
	case "say":
		m.Shape, m.Parts = compact.String, []compact.Part{{Text: compact.Plain(text)}}
	case "unpart":
		m.Parts = slices.Delete(m.Parts, k, k+1)
	case "id":
		m.Calls[k].ID = text
	case "arguments":
		m.Calls[k].Arguments = compact.Plain(text)
	case "uncall":
		m.Calls = slices.Delete(m.Calls, k, k+1)
	case "answers":
		if _, named := compact.NameIn(m.Answers); named {
			text = compact.ByName(text)
		}
		m.Answers = text
	case "clear":
		m.Flawed = false
	case "role":
		m.Role, _ = compact.RoleNamed(rest)
	default:
		return nil, fmt.Errorf("%q is no edit", line)
	}
	return msgs, nil
}

// decoded reads a body, and checks what must hold of every one.
func decoded(t testing.TB, w wire.Wire, body []byte) *wire.Request {
	t.Helper()
	r, err := w.Decode(body)
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, body)
	}
	unedited(t, r)
	return r
}

// unedited checks what must hold of every body that can be read.
func unedited(t testing.TB, r *wire.Request) {
	t.Helper()
	out, err := r.Encode(r.Conversation.Messages)
	if err != nil || len(out) != len(r.Body) || &out[0] != &r.Body[0] {
		t.Fatalf("nothing was edited, but it is not the same slice (%v)", err)
	}
	marked := slices.Clone(r.Conversation.Messages)
	for i := range marked {
		marked[i].Edited = true
	}
	if out, err = r.Encode(marked); err != nil || string(out) != string(r.Body) {
		t.Fatalf("nothing changed, but the bytes did (%v):\n%.2000s\nwant:\n%.2000s", err, out, r.Body)
	}
}

// again decodes what was sent and compares it with what was to be sent.
func again(t testing.TB, w wire.Wire, sent []byte, want []compact.Message) {
	t.Helper()
	r, err := w.Decode(sent)
	if err != nil {
		t.Fatalf("what was sent cannot be read: %v\n%.2000s", err, sent)
	}
	got := r.Conversation.Messages
	if len(got) != len(want) {
		t.Fatalf("%d messages were sent, want %d", len(got), len(want))
	}
	for i := range want {
		is, to := plain(got[i]), plain(want[i])
		if want[i].Origin == compact.Added {
			is.Failed, is.Shape = to.Failed, to.Shape // as the API wants what is made up
		}
		if !is.Equal(&to) {
			t.Errorf("message %d was sent as\n%s\nwant\n%s", i, describeMessage(&is), describeMessage(&to))
		}
	}
}

// plain is a message as it reads once it was written: a string is one text,
// and whether the answer goes on is decided by the list as a whole.
func plain(m compact.Message) compact.Message {
	m.Open, m.Rest = false, false
	if m.Shape == compact.String {
		var text strings.Builder
		for _, p := range m.Parts {
			text.WriteString(p.Text.String())
		}
		m.Parts = []compact.Part{{Text: compact.Plain(strings.ToValidUTF8(text.String(), "\ufffd"))}}
	}
	if name, named := compact.NameIn(m.Answers); named {
		m.Name = name
	}
	return m
}

// describe shows what was decoded, a message a line.
func describe(r *wire.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %q", r.Model)
	if r.Stream {
		b.WriteString(", stream")
	}
	if r.MaxTokens > 0 {
		fmt.Fprintf(&b, ", at most %d tokens", r.MaxTokens)
	}
	for _, f := range []struct {
		name string
		raw  []byte
	}{{"tools", r.Tools}, {"functions", r.Functions}, {"response_format", r.Format}} {
		if f.raw != nil {
			fmt.Fprintf(&b, ", %s %s", f.name, f.raw)
		}
	}
	for i := range r.Conversation.Messages {
		m := &r.Conversation.Messages[i]
		if m.Origin != i || m.Edited {
			panic("a decoded message is not the client's")
		}
		b.WriteString("\n" + describeMessage(m))
	}
	return b.String()
}

func describeMessage(m *compact.Message) string {
	var b strings.Builder
	b.WriteString(m.RoleName())
	if id, _ := compact.NameIn(m.Answers); id != "" {
		fmt.Fprintf(&b, " to %q", id)
	}
	if m.Name != "" {
		fmt.Fprintf(&b, " named %q", m.Name)
	}
	b.WriteString([...]string{": absent", ": null", ": string", ": array"}[m.Shape])
	for _, p := range m.Parts {
		kind := [...]string{"", "image ", "audio ", "file ", "video ", "refusal ", "other "}[p.Kind]
		fmt.Fprintf(&b, " %s%q", kind, p.Text.String())
		if p.Detail != "" {
			fmt.Fprintf(&b, " (%s)", p.Detail)
		}
	}
	for _, c := range m.Calls {
		kind, id := map[bool]string{false: "call", true: "custom call"}[c.Custom], c.ID
		if _, named := compact.NameIn(id); named {
			kind, id = "legacy call", ""
		}
		fmt.Fprintf(&b, " | %s %q %s %q", kind, id, c.Name, c.Arguments.String())
		if c.Sealed {
			b.WriteString(" signed")
		}
	}
	if m.Reasoning.Len() > 0 {
		fmt.Fprintf(&b, " | reasoning %q", m.Reasoning.String())
	}
	if m.Refusal.Len() > 0 {
		fmt.Fprintf(&b, " | refusal %q", m.Refusal.String())
	}
	for _, mark := range []struct {
		set  bool
		name string
	}{{m.Failed, "failed"}, {m.Flawed, "flawed"}, {m.Sound, "sound"}, {m.Seal != 0, "sealed"}, {m.Open, "open"}, {m.Holds, "holds"}, {m.Joined, "joined"}, {m.Replaces, "replaces"}} {
		if mark.set {
			b.WriteString(" | " + mark.name)
		}
	}
	return b.String()
}
