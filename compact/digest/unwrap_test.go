package digest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"laconic/compact/compacttest"
)

func TestUnwrap(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := unwrap(text); got != want {
			t.Errorf("%s\nreads\n%q, want\n%q", text, got, want)
		}
	}
	// What is no JSON, or has nothing to undo, is its own reading.
	for _, same := range []string{
		"", "  ", "plain\ttext", `{"user_id": "mia_li_3668", "amount": 12.5, "open": true, "none": null, "list": [1, "two"]}`,
		`[INFO] "a\nb"`, `[1] "a\nb"`, `{not json "a\nb"}`, `{"a" "b\n"}`, `"a\nb" and more`, "{}", "[]", `{"a": 1} trailing "x\n"`,
	} {
		f(same, same)
	}
	f(`{"output":"\ti.Kind = 1\nnext\n"}`, "\ti.Kind = 1\nnext\n")
	f(`{"output":"one line","metadata":{"exit_code":0}}`, "one line\n")
	f(`{"output":"one line","metadata":{"exit_code":2}}`, "one line\n\"metadata\":{\"exit_code\":2}}\n")
	f(`{"metadata":{"exit_code":1},"output":"a\nb"}`, "{\"metadata\":{\"exit_code\":1}\na\nb\n")
	f(`{"metadata":{"exit_code":0},"output":""}`, "")
	f(`{"id":3,"content":"one line"}`, `{"id":3,"content":"one line"}`)
	f(`[{"type":"text","text":"PORT=1"},{"type":"text","text":"NEXT=2"}]`, "PORT=1\nNEXT=2\n")
	f(`[{"text":"PORT=1","type":"text"}]`, "PORT=1\n")
	f(`{"content":[{"type":"text","text":"a\nb"}],"isError":false}`, "a\nb\n\"isError\":false}\n")
	f(`{"output":"[{\"type\":\"text\",\"text\":\"a\\nb\"}]"}`, "a\nb\n")
	f(`"[{\"type\":\"text\",\"text\":\"a\\nb\"}]"`, "a\nb\n")
	f(`{"stdout":"a\nb","stderr":"c\nd"}`, "a\nb\nc\nd\n")
	f(`{"name":"a\tb","quote":"say \"hi\""}`, "{\"name\":\"a\tb\",\"quote\":\"say \"hi\"\"}\n")
	f("{\"a\":\"x\\ny\"}\n{\"a\":\"z\"}", "x\ny\n{\"a\":\"z\"}\n")
	f(`{"output":"it breaks off\nin the mid`, "it breaks off\nin the mid\n")
	f(`"\u00e9\ud83d\ude00\ud83d\u0041\n\q\u12"`, "é😀\ufffdA\n\\q\\u12\n")
}

// Whatever the shape, the text of an envelope is read as it is.
func TestUnwrapOfAnyWrapper(t *testing.T) {
	text := "func (x *T) Do() {\n\treturn \"a\\nb\" // <é 日本 😀>\n}\n\\d+\n"
	for _, how := range []string{"plain", "json", "parts", "nested"} {
		if got := unwrap(compacttest.Wrap(how, text)); !strings.Contains(got, text) {
			t.Errorf("%s: %q", how, got)
		}
	}
}

func TestWithoutHead(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := withoutHead(text); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
	f("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\none\ntwo", "one\ntwo")
	f("Chunk ID: a1\nProcess exited with code 2\nOutput:\none", "Process exited with code 2\none")
	for _, same := range []string{"", "one\nOutput:\ntwo", "Chunk ID: a1\nno output", "Chunk ID: " + strings.Repeat("long ", 100) + "\nOutput:\n"} {
		f(same, same)
	}
}

func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{`{"output":"a\nb"}`, `[{"type":"text","text":"x"}]`, `"\ud83d"`, `{"a":[1,2,{"b":"c\td"}]`, `[[[[`, `{"a":"{\"b\":\"\\n\"}"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := unwrap(s)
		if len(got) > 3*len(s)+16 {
			t.Errorf("%d bytes read as %d", len(s), len(got))
		}
		// A text in a string of JSON is read whole, unless it may be JSON itself.
		if start := strings.TrimSpace(s); utf8.ValidString(s) && !strings.HasPrefix(start, "{") && !strings.HasPrefix(start, "[") && !strings.HasPrefix(start, `"`) && !strings.ContainsAny(s, "\b\f") {
			raw, _ := json.Marshal(map[string]string{"output": s + "\n"})
			if !strings.Contains(unwrap(string(raw)), s) {
				t.Errorf("%q reads %q", raw, unwrap(string(raw)))
			}
		}
	})
}
