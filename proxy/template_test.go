package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
)

// refusing answers as an upstream whose template refuses some lists: with the first
// text that takes returns, "" for none.
func refusing(t *testing.T, status int, takes func([]compact.Message) string) *upstream {
	return answering(t, func(w http.ResponseWriter, body []byte) bool {
		r, err := wire.Chat.Decode(body)
		if err != nil {
			t.Error(err)
			return false
		}
		said := takes(r.Conversation.Messages)
		if said != "" {
			saysTemplate(w, status, said)
		}
		return said != ""
	})
}

// saysTemplate refuses in the words of llama.cpp.
func saysTemplate(w http.ResponseWriter, status int, said string) {
	text, _ := json.Marshal("\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵\n      ^\nError: Jinja Exception: " + said)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"error":{"code":500,"type":"server_error","message":`+string(text)+`}}`)
}

// The templates of some models, as far as they refuse lists.
var (
	qwen = func(msgs []compact.Message) string {
		if slices.ContainsFunc(msgs[1:], func(m compact.Message) bool { return m.Role.Instruction() }) {
			return "System message must be at the beginning."
		}
		return ""
	}
	gemma = func(msgs []compact.Message) string {
		if slices.ContainsFunc(msgs, func(m compact.Message) bool { return m.Role.Instruction() }) {
			return "System role not supported"
		}
		return turns(msgs)
	}
	llama = func(msgs []compact.Message) string {
		if slices.ContainsFunc(msgs, func(m compact.Message) bool { return len(m.Calls) > 1 }) {
			return "This model only supports single tool-calls at once!"
		}
		return ""
	}
	nemo = func(msgs []compact.Message) string {
		for _, m := range msgs {
			for _, c := range m.Calls {
				if len(c.ID) != 9 {
					return "Tool call IDs should be alphanumeric strings with length 9!"
				}
			}
		}
		return turns(msgs)
	}
)

// turns: users and assistants alternate after the system message, calls and
// results aside.
func turns(msgs []compact.Message) string {
	last := compact.Assistant
	for i, m := range msgs {
		switch {
		case i == 0 && m.Role.Instruction(), m.Role.Result(), len(m.Calls) > 0:
			continue
		case m.Role == last, m.Role.Instruction():
			return "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
		}
		last = m.Role
	}
	return ""
}

// TestATemplateIsMet: what a template refuses is rewritten and sent once more,
// and the next request comes as it demands at once. A template that demands two
// things is met by the third body.
func TestATemplateIsMet(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"go"},{"role":"developer","content":"be kind"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_00000001","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_00000002","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_00000001","content":"one"},{"role":"tool","tool_call_id":"call_00000002","content":"two"},{"role":"user","content":"wait"}]}`
	for _, c := range []struct {
		name    string
		status  int
		takes   func([]compact.Message) string
		want    []string // per request: how many were sent, and the status
		demands compact.Demands
	}{
		{"qwen", 500, qwen, []string{"2 200", "1 200"}, compact.OneSystem},
		{"gemma", 400, gemma, []string{"3 200", "1 200"}, compact.NoSystem | compact.TakeTurns | compact.OneSystem},
		{"llama", 500, llama, []string{"2 200", "1 200"}, compact.SingleCalls},
		{"nemo", 400, nemo, []string{"3 200", "1 200"}, compact.NineLetters | compact.TakeTurns | compact.OneSystem},
		{"takes nothing", 500, func([]compact.Message) string { return "System message must be at the beginning." }, []string{"2 500", "2 500"}, 0},
		{"says nothing that is known", 500, func([]compact.Message) string { return "Image expected." }, []string{"1 500", "1 500"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := refusing(t, c.status, c.takes)
			p := inFrontOf(t, u, windowed(100_000))
			for turn, want := range c.want {
				before := len(u.requests())
				res := p.chat(chat)
				got := string(rune('0'+len(u.requests())-before)) + " " + res.Status[:3]
				if got != want {
					t.Errorf("request %d: %s, want %s (%+v)", turn+1, got, want, p.replies(turn + 1)[turn].Retry)
				}
			}
			if demands := p.factsOf("m").Demands.Value; demands != c.demands {
				t.Errorf("learnt %q, want %q", demands, c.demands)
			}
			if i := p.replies(1)[0].Retry; i.Hint == "" || i.Template == "" || i.Reason != reasonTemplate {
				t.Errorf("said %+v", i)
			}
		})
	}
}

// TestSystemMessagesAreKeptOrFoldedAsTheRouteSays: fold needs no refusal, keep does
// not follow one.
func TestSystemMessagesAreKeptOrFoldedAsTheRouteSays(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"system","content":"be kind"}]}`
	for _, c := range []struct {
		mode, sent string
		n, status  int
	}{
		{SystemFold, `{"model":"m","messages":[{"role":"user","content":"go\n\n[System message:]\nbe kind\n[End of the system message]"}]}`, 1, 200},
		{SystemKeep, chat, 1, 500},
		{SystemAuto, `{"model":"m","messages":[{"role":"user","content":"go\n\n[System message:]\nbe kind\n[End of the system message]"}]}`, 2, 200},
	} {
		u := refusing(t, 500, qwen)
		p := inFrontOf(t, u, func(o *Options) { o.Default.SystemMessages = c.mode })
		res := p.chat(chat)
		if got, n := string(u.newest()), len(u.requests()); res.StatusCode != c.status || n != c.n || got != c.sent {
			t.Errorf("%s: %d after %d, sent %s", c.mode, res.StatusCode, n, got)
		}
	}
}

// TestInstructionsBesideTheListStay: where an upstream takes no system message in the
// list, those join the messages beside them, and what stands beside the list stays.
func TestInstructionsBesideTheListStay(t *testing.T) {
	const before, behind, alone = `"go"`, `"go\n\n[System message:]\nbe kind\n[End of the system message]"`, `"[System message:]\nbe kind\n[End of the system message]\n\ngo"`
	f := func(status int, path, refused, words, body string) {
		t.Helper()
		u := answering(t, func(w http.ResponseWriter, sent []byte) bool {
			said := strings.Contains(string(sent), refused)
			if said {
				saysTemplate(w, status, words)
			}
			return said
		})
		p := inFrontOf(t, u)
		joined := behind
		if refused[0] != ',' {
			joined = alone
		}
		res := p.do("POST", path, strings.NewReader(fmt.Sprintf(body, before, refused)), "Content-Type", "application/json")
		if got, want := string(u.newest()), fmt.Sprintf(body, joined, ""); res.StatusCode != 200 || got != want {
			t.Errorf("%d: %s\nsent %s\nwant %s", res.StatusCode, res.body, got, want)
		}
	}
	f(422, "/v1/messages", `,{"role":"system","content":"be kind"}`, "messages.1.role: Input should be 'user' or 'assistant'",
		`{"model":"m","max_tokens":9,"system":"be brief","messages":[{"role":"user","content":%s}%s]}`)
	f(400, "/v1/messages", `{"role":"system","content":"be kind"},`, "System message must be at the beginning.",
		`{"model":"m","max_tokens":9,"system":"be brief","messages":[%[2]s{"role":"user","content":%[1]s}]}`)
	f(400, "/v1/responses", `{"role":"developer","content":"be kind"},`, "System message must be at the beginning.",
		`{"model":"m","store":false,"instructions":"be brief","input":[%[2]s{"role":"user","content":%[1]s}]}`)
}
