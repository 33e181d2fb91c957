package survival

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

// portIn reports whether a port stands in a text, with the word port or listen
// before it in the same line.
func portIn(text, port string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], port)
		if i < 0 {
			return false
		}
		at += i
		before := text[max(0, at-80):at]
		before = strings.ToLower(before[strings.LastIndexByte(before, '\n')+1:])
		if (strings.Contains(before, "port") || strings.Contains(before, "listen")) && !digitAt(text, at-1) && !digitAt(text, at+len(port)) {
			return true
		}
		at += len(port)
	}
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// TestJudge: what the columns of the table count, and what they do not.
func TestJudge(t *testing.T) {
	long := "first line of the result\n" + strings.Repeat("a line in its midst\n", 40) + "the last line of the result\n"
	inJSON := string(marshal(map[string]string{"output": long + "\tcompact.Kind\n"}))
	j := newJudge(facts{
		port: "48213", test: "TestCeiling", rules: []string{"Never change src/fold.go.", "Always report."},
		letter: "来月の十一日", cause: "drops the last cent", of: "src/sum.go", reason: "wait for Mira",
	})
	sent := []strict.Message{
		{Role: "user", Text: "Rules:\n- Never change  src/fold.go.\n- Always report."},
		{Role: "tool", Text: "PORT=48213\n--- FAIL: TestCeiling\n締め日は来月の十一日です。"},
		{Role: "assistant", Text: "So src/sum.go drops the last cent."},
		{Role: "tool", Text: inJSON},
		{Role: "tool", Text: "wait for Mira"},
	}
	f := func(what string, got []strict.Message, newest state, want map[int]float64) {
		t.Helper()
		all := map[int]float64{}
		for column := portThere; column <= undoneTold; column++ {
			if column != firstThere {
				all[column] = want[column]
			}
		}
		if _, told := want[undoneTold]; !told {
			all[undoneTold] = 1
		}
		if v := j.look(sent, got, []string{"src/a.go"}, []string{"src/no.go"}); v.newest != newest || !reflect.DeepEqual(v.shares, all) {
			t.Errorf("%s: got %s, %v, want %s, %v", what, v.newest, v.shares, newest, all)
		}
	}
	user := func(text string) strict.Message { return strict.Message{Role: "user", Text: text} }
	tool := func(text string) strict.Message { return strict.Message{Role: "tool", Text: text} }
	told := tool("wait for Mira")
	edited := strict.Message{Role: "assistant", Calls: []strict.Call{{Name: "edit_file", Arguments: `{"path":"src/a.go"}`}}}
	f("all", append([]strict.Message{edited}, sent...), whole, map[int]float64{
		portThere: 1, testThere: 1, ruleThere: 1, trailThere: 1, letterThere: 1, causeThere: 1, reasonThere: 1,
	})
	f("nothing", []strict.Message{user("hello")}, gone, nil)
	f("head and tail", []strict.Message{told, tool(inJSON[:60] + "[cut]" + inJSON[len(inJSON)-60:])}, cut, map[int]float64{reasonThere: 1})
	f("the head alone", []strict.Message{told, tool(inJSON[:200])}, gone, map[int]float64{reasonThere: 1})
	f("a number that nothing names", []strict.Message{user("48213 is the count, port 148213")}, gone, nil)
	f("one rule of two", []strict.Message{user("Never change src/fold.go. TestCeiling")}, gone, map[int]float64{ruleThere: 0.5})
	f("a test that failed", []strict.Message{user("red: TestCeiling")}, gone, map[int]float64{testThere: 1})
	f("a cause without its file", []strict.Message{user("src/sum.go:\n drops the last cent")}, gone, nil)
	f("a path that was only read", []strict.Message{user("call: read_file src/a.go")}, gone, nil)
	f("a path below its heading", []strict.Message{user("edited:\n  src/a.go")}, gone, map[int]float64{trailThere: 1})
	f("an edit that never was", []strict.Message{user("changed: src/no.go")}, gone, map[int]float64{undoneTold: 0})
	f("the same beside another file", []strict.Message{user("changed: NOTES.md, src/no.go")}, gone, map[int]float64{undoneTold: 0})
	f("the same below its heading", []strict.Message{user("changed:\n  src/no.go")}, gone, map[int]float64{undoneTold: 0})
	f("an edit that failed", []strict.Message{user("edit of src/no.go failed")}, gone, nil)

	// Once the tests are green, the test is the one that failed first.
	j.green = "all 9 tests passed"
	sent = append(sent, tool("all 9 tests passed"))
	for text, want := range map[string]float64{"FAIL: TestCeiling": 1, "ok: TestCeiling": 0} {
		v := j.look(sent, []strict.Message{user(text)}, nil, nil)
		if _, before := v.shares[testThere]; before || v.shares[firstThere] != want {
			t.Errorf("%q: %v", text, v.shares)
		}
	}
}
