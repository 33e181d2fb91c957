package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"laconic/compact/compacttest"
)

// read returns a text as a reader wants it.
func read(text string, made bool) string {
	r, v := reader{}, Value{kind: '"', Text: text}
	if made {
		v = valueOfYAML(text)
	}
	r.value("", &v)
	return r.b.String()
}

func TestUnwrap(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := read(text, true); got != want {
			t.Errorf("%s\nreads\n%q, want\n%q", text, got, want)
		}
	}
	// What is no JSON, or has nothing to undo, is its own reading.
	for _, same := range []string{
		"", "  ", "[(see below)]", "plain\ttext", "name: Emma", "a: b\nc: #4", "a: b # 4\nc: d", "a: b\nc: d\n\n# 3 more", "a: b\nc: d\n---\nFAIL: x: y", "a: !todo b\nc: d", "a: &main b\nc: d", "Note: we said\n  nothing: new: here", `{'a': }`, "[<StreamHandler <stderr> (NOTSET)>, <FileHandler app.log (NOTSET)>]", "{ font-family: \"Inter\"; margin: 0 auto }",
		`[INFO] "a\nb"`, `[1] "a\nb"`, `{not json "a\nb"}`, `{"a" "b\n"}`, `"a\nb" and more`, "{}", "[]", `{"a": 1} trailing "x\n"`,
	} {
		f(same, strings.TrimPrefix(same+"\n", "\n"))
	}
	f(`{"output":"\ti.Kind = 1\nnext\n"}`, "\ti.Kind = 1\nnext\n")
	f(`{"output":"one line","metadata":{"exit_code":2}}`, "one line\nexit_code: 2\n")
	f(`{"metadata":{"exit_code":1},"output":"a\nb"}`, "exit_code: 1\na\nb\n")
	f(`{"output":"","exit_code":0,"duration_seconds":0.4}`, "exit_code: 0\n")
	f(`{"id":3,"content":"one line"}`, "id: 3, content: one line\n")
	f(`{"id": 7, "open": true, "none": null, "list": [1, "two"]}`, "id: 7, open: true, none: null, list: 1, two\n")
	f(`{"breaker": {"port": 49799}, "at": {"host": "a", "tags": ["x", {"y": 1}]}}`, "breaker: port 49799, at: host a, tags [x, [y 1]]\n")
	f(`[{"id": 7, "name": "Emma"}, {"id": -8.5, "name": "Mia"}, {"id": 9, "name": "Li"}]`, "(id, name)\n7, Emma\n-8.5, Mia\n9, Li\n\n")
	f(`[{"type":"text","text":"PORT=1"},{"type":"text","text":"NEXT=2"}]`, "PORT=1\nNEXT=2\n")
	f(`[{"text":"PORT=1","type":"text"}]`, "PORT=1\n")
	f(`{"content":[{"type":"text","text":"a\nb"}],"isError":false}`, "a\nb\n")
	f(`{"output":"[{\"type\":\"text\",\"text\":\"a\\nb\"}]"}`, "a\nb\n")
	f(`"[{\"type\":\"text\",\"text\":\"a\\nb\"}]"`, "a\nb\n")
	f(`{"stdout":"a\nb","stderr":"c\nd"}`, "a\nb\nc\nd\n")
	f(`{"name":"a\tb","quote":"say \"hi\""}`, "name: a\tb, quote: say \"hi\"\n")
	f(`{'name': 'Emma', 'city': "O'Fallon", 'open': True, 'by': None}`, "name: Emma, city: O'Fallon, open: True, by: None\n")
	f(`[{'id': 7, 'says': "It's so\n"}, {'id': 8, 'says': 'no'}]`, "id: 7\nsays: It's so\nid: 8, says: no\n")
	f("name: Emma\nroom: 007\n", "name: Emma, room: 007\n")
	f("- id: 7\n  at: 2026-01-02 10:00\n- id: 8\n  at: ''\n", "(id, at)\n7, 2026-01-02 10:00\n8, \"\"\n\n")
	f("id: 7\nsays: |\n  one\n  two\nby: Emma\n", "id: 7, by: Emma\nsays: one\ntwo\n")
	long := strings.Repeat("words ", 30)
	f(`{"commits":[{"id":1,"text":"`+long+`\na"},{"id":2,"by":"Mia","text":"`+long+`\nb"}]}`, "commits[0]: id: 1\ncommits[0].text: "+long+"\na\ncommits[1]: id: 2, by: Mia\ncommits[1].text: "+long+"\nb\n")
	f(`"\u00e9\ud83d\ude00\ud83d\u0041\n"`, "é😀\ufffdA\n")
}

// Whatever the shape, the text of an envelope is read as it is.
func TestUnwrapOfAnyWrapper(t *testing.T) {
	text := "func (x *T) Do() {\n\treturn \"a\\nb\" // <é 日本 😀>\n}\n\\d+\n"
	for how, wrapped := range compacttest.Wrapped(text) {
		if got := read(wrapped, true); !strings.Contains(got, text) {
			t.Errorf("%s: %q", how, got)
		}
	}
}

func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{`{"output":"a\nb"}`, `[{"type":"text","text":"x"}]`, `"\ud83d"`, `{"a":[1,2,{"b":"c\td"}]`, `[[[[`, `{"a":"{\"b\":\"\\n\"}"}`, `[{'a': 'it\'s', 'b': None}]`, `{"kkkkkkkkkkkkkkkkkkkkk":[{"a":1},{"b":2},{"a":3}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := read(s, true)
		if len(got) > 6*len(s)+16 { // what is no UTF-8 is three bytes, and a broken key its own value
			t.Errorf("%d bytes read as %d", len(s), len(got))
		}
		// A text in a string of JSON is read whole, unless it may be JSON itself.
		if start := strings.TrimSpace(s); utf8.ValidString(s) && !strings.HasPrefix(start, "{") && !strings.HasPrefix(start, "[") && !strings.HasPrefix(start, `"`) && !strings.ContainsAny(s, "\b\f") {
			raw, _ := json.Marshal(map[string]string{"output": s + "\n"})
			if got = read(string(raw), false); !strings.Contains(got, s) {
				t.Errorf("%q reads %q", raw, got)
			}
		}
	})
}
