package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"laconic/e2e/rig"
	"laconic/proxy/wire/wiretest"
	"laconic/replay/replaytest"
)

// readAll returns the contents of a file, a line per conversation and per fault,
// faults of the whole file last.
func readAll(t *testing.T, file string) []string {
	t.Helper()
	var got, faults []string
	for r, bad := range Read(file, nil) {
		switch {
		case bad == nil:
			got = append(got, fmt.Sprintf("%s: %d messages, sent %v", r.ID, len(r.Messages), r.Sent))
		case bad.Line+bad.Element > 0:
			got = append(got, fmt.Sprintf("bad %d/%d: %s", bad.Line, bad.Element, bad.Reason))
		default:
			faults = append(faults, "error: "+bad.Reason)
		}
	}
	return append(got, faults...)
}

// TestRead: every form of file, and every fault by its place.
func TestRead(t *testing.T) {
	f := func(name, content string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, readAll(t, replaytest.Write(t, name, content))); d != "" {
			t.Errorf("%s: want -, got +\n%s\n%s", name, d, content)
		}
	}
	const (
		hi    = `{"role":"user","content":"hi"}`
		hello = `{"role":"assistant","content":"hello"}`
		more  = `{"role":"user","content":"more"}`
		other = `{"role":"user","content":"other"}`
	)
	body := func(messages ...string) string { return `{"messages":[` + strings.Join(messages, ",") + `]}` }

	// conversations, one a line, with an id or without
	f("a.jsonl", `{"id":"one","messages":[`+hi+`,`+hello+`]}`+"\n\n"+body(hi, hello)+"\n",
		"one: 2 messages, sent []", "a.jsonl:3: 2 messages, sent []")
	// requests that go on from one another are one conversation
	f("a.jsonl", body(hi)+"\n"+body(hi, hello, more)+"\n", "a.jsonl:1: 3 messages, sent [1 3]")
	// an earlier request again
	f("a.jsonl", body(hi)+"\n"+body(hi, hello, more)+"\n"+body(hi)+"\n", "a.jsonl:1: 3 messages, sent [1 3 1]")
	// the same request again, and two conversations side by side
	f("a.jsonl", strings.Join([]string{body(hi), body(other), body(hi), body(hi, hello, more), body(other, hello, other)}, "\n"),
		"a.jsonl:1: 3 messages, sent [1 1 3]", "a.jsonl:2: 3 messages, sent [1 3]")
	// a conversation that was told another way in the middle is another one
	f("a.jsonl", body(hi, hello, more)+"\n"+body(hi, hello, other, hello, more)+"\n",
		"a.jsonl:1: 3 messages, sent [3]", "a.jsonl:2: 5 messages, sent [5]")
	// broken lines are named, the others are read
	f("a.jsonl", `{"messages":[{"ro`+"\n"+body(hi)+"\n"+`[1]`+"\n"+`{"x":1}`+"\n"+`{"messages":[{"role":"king"}]}`+"\n",
		"bad 1/0: this is not valid JSON",
		"bad 3/0: this is JSON, but not an object with messages",
		"bad 4/0: the list of messages is missing",
		"bad 5/0: the role of a message is not one of the API: message 0",
		"a.jsonl:2: 1 messages, sent [1]")
	// also where the first line is the broken one
	for _, first := range []string{"{", "[broken", `{"messages":[`, "oops", "["} {
		for _, name := range []string{"a.jsonl", "a.ndjson", "a.JSONL", "a.json", "capture"} {
			f(name, first+"\r\n"+body(hi)+"\r\n"+body(other)+"\n", "bad 1/0: this is not valid JSON", name+":2: 1 messages, sent [1]", name+":3: 1 messages, sent [1]")
		}
	}
	f("a.jsonl", "[]\n", "bad 1/0: this is JSON, but not an object with messages")
	// keys that not everybody reads alike are refused, as the proxy does
	f("a.jsonl", strings.Join([]string{
		`{"messages":[` + hi + `],"messages":[` + other + `]}`, `{"Messages":[` + hi + `]}`, `{"messages":[` + hi + `],"MESSAGES":[]}`,
		`{"messages":[` + hi + `],"model":"a","m\u006fdel":"b"}`, `{"messages":[{"role":"user","content":"a","content":"b"}]}`,
		`{"id":7,"meta":{"x":1},"messages":[` + hi + `]}`, `{"\u006dessages":[` + other + `],"id":"one"}`,
	}, "\n"),
		"bad 1/0: an object of the body has a key twice: messages", "bad 2/0: a key of the body is read by some servers as another key: messages",
		"bad 3/0: a key of the body is read by some servers as another key: messages",
		"bad 4/0: an object of the body has a key twice: model", "bad 5/0: an object of the body has a key twice: content",
		"bad 7/0: a key of the body is read by some servers as another key: messages", "a.jsonl:6: 1 messages, sent [1]")
	// a byte order mark, and line ends of another system
	f("a.jsonl", "\ufeff"+body(hi)+"\r\n"+body(other)+"\r\n", "a.jsonl:1: 1 messages, sent [1]", "a.jsonl:2: 1 messages, sent [1]")
	// one body over several lines, and an array of bodies
	f("a.json", "{\n  \"messages\": [\n"+hi+"\n]\n}\n", "a.json: 1 messages, sent [1]")
	f("a.json", "{ \"messages\":\n ["+hi+"]}", "a.json: 1 messages, sent [1]")
	f("a.json", "["+body(hi)+",\n"+body(hi, hello, more)+`,{"messages":1}]`,
		"bad 0/3: the list of messages is not an array", "a.json:1: 3 messages, sent [1 3]")
	f("a.json", "\ufeff[\n\n"+body(hi)+"\n]\n \n", "a.json:1: 1 messages, sent [1]")
	f("a.json", "[]\n", `error: the array is empty: there is no conversation in it`)
	// one that is cut off, or goes on, is no document
	f("a.json", "["+body(hi)+",\n"+body(other), "bad 1/0: this is not valid JSON", "a.json:2: 1 messages, sent [1]")
	f("a.json", "["+body(hi)+"]\n["+body(other)+"]\n", "bad 1/0: this is JSON, but not an object with messages", "bad 2/0: this is JSON, but not an object with messages")
	// nothing
	f("a.jsonl", "", "error: the file is empty: there is no conversation in it")
	f("a.jsonl", " \n\n", "error: the file is empty: there is no conversation in it")
}

// TestReadCapture: every request of a real run, in which markers of the prompt
// cache move from request to request, is one conversation.
func TestReadCapture(t *testing.T) {
	own := replaytest.Write(t, "capture.jsonl", string(capture(t, "../../e2e/testdata/conversations/readers.jsonl")))
	var larger []string // real ones
	if wiretest.HasLargerSet(t) {
		larger, _ = filepath.Glob(wiretest.LargerSet(t) + "/wire/*.jsonl")
	}
	for _, file := range append(larger, own) {
		got := readAll(t, file)
		if len(got) != 1 || !strings.Contains(got[0], " messages, sent [2 4 6 8 10 12 14 16 18") {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// capture returns the requests of the first conversation of a file. Every
// content is a list of parts; the newest message carries the mark.
func capture(t *testing.T, file string) []byte {
	raw := rig.ReadFile(t, file)
	var c struct {
		Messages []map[string]any
		Tools    json.RawMessage
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&c); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for k, m := range c.Messages {
		if k == 0 || m["role"] != "assistant" {
			continue
		}
		msgs := make([]map[string]any, k)
		for i := range msgs {
			msgs[i] = maps.Clone(c.Messages[i])
			if msgs[i]["content"] == nil {
				continue
			}
			part := map[string]any{"type": "text", "text": msgs[i]["content"]}
			if i == k-1 {
				part["cache_control"] = map[string]any{"type": "ephemeral"}
			}
			msgs[i]["content"] = []any{part}
		}
		if err := json.NewEncoder(&out).Encode(map[string]any{"model": "gpt-4o", "messages": msgs, "tools": c.Tools}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestReadHAR: the chat requests of a capture, whatever else is in it.
func TestReadHAR(t *testing.T) {
	entry := func(method, url, body string) string {
		text, _ := json.Marshal(body)
		return fmt.Sprintf(`{"startedDateTime":"x","request":{"method":%q,"url":%q,"postData":{"mimeType":"application/json","text":%s}},"response":{"content":{"text":"…"}}}`, method, url, text)
	}
	const hi = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	const more = `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}]}`
	f := func(name, content string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, readAll(t, replaytest.Write(t, name, content))); d != "" {
			t.Errorf("want -, got +\n%s\n%s", d, content)
		}
	}
	har := func(entries ...string) string {
		return `{"log":{"version":"1.2","creator":{"name":"x"},"entries":[` + strings.Join(entries, ",") + `]}}`
	}
	chat := "https://api.example.com/v1/chat/completions"
	f("a.har", har(entry("POST", chat, hi), entry("GET", chat, hi), entry("POST", "https://api.example.com/v1/embeddings", hi), entry("POST", chat+"?v=1", more)),
		"a.har:1: 3 messages, sent [1 3]")
	// known by what it holds, not by its name
	f("a.json", har(entry("POST", chat, hi)), "a.json:1: 1 messages, sent [1]")
	f("a.har", har(entry("POST", chat, hi), entry("POST", chat, "oops")), "bad 0/2: this is not valid JSON", "a.har:1: 1 messages, sent [1]")
	f("a.har", har(`{"request":{"method":"POST","url":"`+chat+`","postData":{"encoding":"base64","text":"eyJtZXNzYWdlcyI6W3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiaGkifV19"}}}`),
		"a.har:1: 1 messages, sent [1]")
	f("a.har", har(`{"request":7}`, entry("POST", "https://api.example.com/v1/messages", hi)), "a.har:2: 1 messages, sent [1]")
	f("a.har", har(), "error: no entry is a POST …/chat/completions or …/responses or …/messages with a body")
	f("a.har", `{"log":{"version":"1.2"}}`, "error: the list of messages is missing")
}

// TestReadSaysWhyNot: files that cannot be opened.
func TestReadSaysWhyNot(t *testing.T) {
	dir := t.TempDir()
	f := func(file, want string) {
		t.Helper()
		if got := readAll(t, file); len(got) != 1 || got[0] != "error: "+want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	f(filepath.Join(dir, "none.jsonl"), "there is no such file")
	f(dir, "this is a folder: name the files in it")
	if os.Getuid() != 0 {
		locked := filepath.Join(dir, "locked.jsonl")
		if err := os.WriteFile(locked, []byte("{}"), 0o000); err != nil {
			t.Fatal(err)
		}
		f(locked, "this user may not read the file")
	}
}

// TestReadKeepsFewOpen: a capture of many conversations is not held until its
// end.
func TestReadKeepsFewOpen(t *testing.T) {
	var g grouping
	for i := range 100 {
		r, err := decode(fmt.Appendf(nil, `{"messages":[{"role":"user","content":"task %d"}]}`, i))
		if err != nil {
			t.Fatal(err)
		}
		if closed := g.add(r); len(g.open) > openGroups || (closed != nil) != (i >= openGroups) {
			t.Fatalf("after %d requests %d conversations are open", i+1, len(g.open))
		}
	}
}

// TestReadKeepsWhatTheAPISays: the system prompt beside the messages is one of them, the
// rules of the API come along, and an answer in several pieces is one answer.
func TestReadKeepsWhatTheAPISays(t *testing.T) {
	f := func(content string, messages int, once bool, points ...int) {
		t.Helper()
		for r, bad := range Read(replaytest.Write(t, "a.jsonl", content), nil) {
			if bad != nil {
				t.Fatalf("%v\n%s", bad, content)
			}
			if n := len(r.Messages); n != messages || r.Rules.OnceInList != once {
				t.Errorf("%d messages under %+v\n%s", n, r.Rules, content)
			}
			if d := cmp.Diff(points, r.RequestPoints()); d != "" {
				t.Errorf("requests: want -, got +\n%s\n%s", d, content)
			}
		}
	}
	const blocks = `{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"t1","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"}]}`
	f(`{"system":"be brief","messages":[`+blocks+`]}`, 4, true, 2, 4)
	const items = `{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},` +
		`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"42"}`
	f(`{"instructions":"be brief","input":[`+items+`]}`, 4, true, 2, 4)
}
