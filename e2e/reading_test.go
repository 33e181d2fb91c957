package e2e

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// nameList is a line of the record that lists bare names. That a name stands in
// such a list tells a model nothing of a port, a test or a file.
var nameList = regexp.MustCompile(`(?m)^(?:[a-z]+ )?(?:names|numbers|paths|words)(?: [a-z ]+)?: (.*)$`)

// reading is the text of a request as a model reads it: escapes undone, white
// space as one blank but for the ends of lines, lists of names left out.
func reading(got []strict.Message) string {
	var b strings.Builder
	for _, m := range got {
		text := m.Text
		if m.Role != "tool" {
			text = nameList.ReplaceAllString(text, "")
		}
		b.WriteString(squeezed(readable(text)) + "\n")
		for _, c := range m.Calls {
			b.WriteString(c.Name + " " + squeezed(readable(c.Arguments)) + "\n")
		}
	}
	return b.String()
}

// readable undoes the escapes of JSON, also those of a text that was cut.
func readable(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`)

// squeezed makes one blank of every run of blanks, and keeps the ends of lines.
func squeezed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

// plain is what a text means: of JSON all keys, strings and numbers in it, each
// on lines of its own, also of JSON inside of JSON.
func plain(text string) string {
	if all := texts(text); len(all) > 0 {
		return strings.Join(all, "\n")
	}
	return text
}

// texts are the keys, strings and numbers of a text that is JSON; nil where it is
// none.
func texts(text string) []string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil
	}
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, plain(v))
		case json.Number:
			all = append(all, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				all = append(all, k)
				walk(e)
			}
		}
	}
	walk(v)
	return all
}

// portIn reports whether a port stands in a text, with the word port before it
// in the same line.
func portIn(text, port string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], port)
		if i < 0 {
			return false
		}
		at += i
		before := text[max(0, at-80):at]
		before = strings.ToLower(before[strings.LastIndexByte(before, '\n')+1:])
		if strings.Contains(before, "port") && !digitAt(text, at-1) && !digitAt(text, at+len(port)) {
			return true
		}
		at += len(port)
	}
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// occurs reports whether a name stands in a text as a word, from an offset on.
func occurs(text, name string, from int) bool {
	for at := from; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		if !wordAt(text, at-1) && !wordAt(text, at+len(name)) && (at == 0 || text[at-1] != '\\') {
			return true
		}
		at++
	}
}

func wordAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= 0x80)
}

// TestJudge: what the columns of the table count, and what they do not.
func TestJudge(t *testing.T) {
	long := "first line of the result\n" + strings.Repeat("a line in its midst\n", 40) + "the last line of the result\n"
	inJSON := string(marshal(map[string]string{"output": long + "\tcompact.Kind\n"}))
	j := newJudge(facts{port: "48213", test: "TestCeiling", rules: []string{"Never change src/fold.go.", "Always report."}})
	sent := []strict.Message{
		{Role: "user", Text: "Rules:\n- Never change  src/fold.go.\n- Always report."},
		{Role: "tool", Text: "PORT=48213\n--- FAIL: TestCeiling"},
		{Role: "assistant"},
		{Role: "tool", Text: inJSON},
	}
	f := func(what string, got []strict.Message, want verdict) {
		t.Helper()
		v := j.look(sent, got, []string{"src/a.go"})
		v.notReal = nil
		if v.canReport = false; !reflect.DeepEqual(v, want) {
			t.Errorf("%s: got %+v, want %+v", what, v, want)
		}
	}
	user := func(text string) strict.Message { return strict.Message{Role: "user", Text: text} }
	tool := func(text string) strict.Message { return strict.Message{Role: "tool", Text: text} }
	edited := strict.Message{Role: "assistant", Calls: []strict.Call{{Name: "edit_file", Arguments: `{"path":"src/a.go"}`}}}
	f("all", append([]strict.Message{edited}, sent...), verdict{newest: whole, port: 1, test: 1, rule: 1, trail: 1, names: -1})
	f("nothing", []strict.Message{user("hello")}, verdict{folded: true, newest: gone, names: -1})
	f("head and tail", []strict.Message{tool(inJSON[:60] + "[cut]" + inJSON[len(inJSON)-60:])}, verdict{folded: true, newest: cut, names: -1})
	f("the head alone", []strict.Message{tool(inJSON[:200])}, verdict{folded: true, newest: gone, names: -1})
	f("a number that nothing names", []strict.Message{user("48213 is the count, port 148213")}, verdict{folded: true, newest: gone, names: -1})
	f("one rule of two", []strict.Message{user("Never change src/fold.go. TestCeiling")}, verdict{folded: true, newest: gone, test: 1, rule: 0.5, names: -1})
	f("a path that was only read", []strict.Message{user("call: read_file src/a.go")}, verdict{folded: true, newest: gone, names: -1})
	f("a path below its heading", []strict.Message{user("edited:\n  src/a.go")}, verdict{folded: true, newest: gone, trail: 1, names: -1})
	f("names, half of them false", []strict.Message{user("names: TestCeiling PORT src/fold.go tcompact.Kind n48213 nthe")}, verdict{folded: true, newest: gone, names: 0.5})
	f("names that are runs", []strict.Message{user("names: 48213…48213 48213…9 compact.Kind")}, verdict{folded: true, newest: gone, names: 2.0 / 3})
}
