package fold

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// rounds returns a list of messages after some rounds of an agent, each result of
// which holds text.
func rounds(n int, text string) []byte {
	var b strings.Builder
	b.WriteString(`[{"role":"system","content":"You are careful."},{"role":"user","content":"Fix the build."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"Round %d.","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"run","arguments":"{\"command\":\"curl http://x/%d?%s\"}"}}]}`, i, i, i, text)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, strings.Repeat(fmt.Sprintf("%s result %d\\n", text, i), 40))
	}
	return []byte(b.String() + "]")
}

var small = Options{Limits: compact.Limits{Budget: 4_000}}

func TestTheResultIsAFunctionOfTheBody(t *testing.T) {
	list := rounds(60, "word")
	before := bytes.Clone(list)
	once, r, err := Messages(list, "gpt-4o", small)
	if err != nil || r.Outcome != compact.Compacted || r.After > 4_000 || !gjson.ValidBytes(once) {
		t.Fatalf("%+v, %v", r, err)
	}
	if again, _, _ := Messages(before, "gpt-4o", small); !bytes.Equal(once, again) || !bytes.Equal(list, before) {
		t.Error("the same list gives other bytes, or was written to")
	}
}

// LiteLLM takes hash= and 24 hexadecimal digits for a marker, and would give the model
// a tool for it.
func TestNoTextOfOursIsAMarker(t *testing.T) {
	const ours = "hash=0123456789abcdef01234567"
	list := rounds(60, ours)
	out, r, err := Messages(list, "gpt-4o", small)
	if err != nil || r.Outcome != compact.Compacted {
		t.Fatalf("%+v, %v", r, err)
	}
	sent := map[string]bool{}
	gjson.GetBytes(list, "#.content").ForEach(func(_, v gjson.Result) bool { sent[v.Raw] = true; return true })
	kept := 0
	gjson.ParseBytes(out).ForEach(func(_, m gjson.Result) bool {
		if text := m.Get("content"); marker.MatchString(text.Str) {
			kept++
			if !sent[text.Raw] {
				t.Errorf("a text that the client did not send: %.300s", text.Str)
			}
		}
		return true
	})
	if kept == 0 {
		t.Error("the client's own texts are not kept")
	}
	whole, _, err := Compact([]byte(`{"model":"gpt-4o","messages":`+string(list)+`}`), small)
	if err != nil || !strings.Contains(gjson.GetBytes(whole, "messages.1.content").Str, ours) {
		t.Errorf("the record quotes no marker, so this test shows nothing: %v", err)
	}
}

func TestOverheadIsCharged(t *testing.T) {
	list := rounds(20, "word")
	_, plain, _ := Messages(list, "gpt-4o", Options{Limits: compact.Limits{Budget: 20_000}})
	_, more, _ := Messages(list, "gpt-4o", Options{Limits: compact.Limits{Budget: 20_000}, Overhead: 14_000})
	if plain.Outcome != compact.Untouched || more.Outcome != compact.Compacted || more.Fixed != plain.Fixed+14_000 {
		t.Errorf("%+v\n%+v", plain, more)
	}
}

// What cannot be read comes back as it came, with the reason.
func TestUnreadable(t *testing.T) {
	var pass *wire.PassError
	for _, body := range []string{
		`{"messages":[{"role":"king","content":"x"}]}`, `{"messages":[{"role":"user"}],"messages":[]}`, `{"messages":[1]}`,
		`{"messages":` + strings.Repeat("[", 6<<20), `{"messages":[` + strings.Repeat(`{"a":`, 1<<20),
	} {
		in := []byte(body)
		out, _, err := Compact(in, Options{})
		if !errors.As(err, &pass) && !errors.Is(err, ErrShape) || &out[0] != &in[0] {
			t.Errorf("%.40s: %v", body, err)
		}
	}
	for _, list := range []string{`{}`, `[]`, `[{"role":"user","content":"x"}],"model":"y"`, `null`} {
		out, _, err := Messages([]byte(list), "m", Options{})
		if err == nil || string(out) != list {
			t.Errorf("%s: %s, %v", list, out, err)
		}
	}
}

// A body that needs nothing comes back as it came, and so does one that says nothing.
func TestUntouched(t *testing.T) {
	for _, body := range []string{
		`{"model":"a", "messages":[{"role":"user","content":"x"}] }`, `{"messages":[{"role":"assistant","content":null}]}`,
	} {
		in := []byte(body)
		if out, r, err := Compact(in, Options{}); err != nil || &out[0] != &in[0] {
			t.Errorf("%s: %s, %+v, %v", body, out, r, err)
		}
	}
}
