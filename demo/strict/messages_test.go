package strict_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// blocksBody is a request of the messages API.
func blocksBody(messages ...string) string {
	return `{"model":"m","max_tokens":100,"messages":[` + strings.Join(messages, ",") + `]}`
}

const (
	twoUses = `{"role":"assistant","content":[{"type":"text","text":"on"},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{"x":1}}]}`
	ofA     = `{"type":"tool_result","tool_use_id":"a","content":"A"}`
	ofB     = `{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"B"}]}`
	words   = `{"type":"text","text":"mind"}`
)

func says(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

// TestMessagesAreRefusedInAnthropicsWords: each body, and the start of the refusal; ""
// for none.
func TestMessagesAreRefusedInAnthropicsWords(t *testing.T) {
	u := strict.New(strict.Options{Limit: 200})
	for _, c := range []struct{ body, want string }{
		{blocksBody(user), ""},
		{blocksBody(user, twoUses, says(ofA, ofB, words)), ""},
		{blocksBody(user, twoUses, says(ofB), says(ofA), says(words)), ""},
		{blocksBody(user, twoUses, says(ofA, ofB), sys, asst), ""},
		{blocksBody(user, twoUses), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b."},
		{blocksBody(user, twoUses, says(ofA), asst), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b."},
		{blocksBody(user, twoUses, says(words, ofA, ofB)), "messages.1: `tool_use` ids were found"},
		{blocksBody(user, twoUses, says(ofA), says(words, ofB)), "messages.1: `tool_use` ids were found"},
		{blocksBody(user, twoUses, sys, says(ofA, ofB)), "messages.1: `tool_use` ids were found"},
		{blocksBody(user, says(ofA)), "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."},
		{blocksBody(user, twoUses, says(ofA, ofA, ofB)), "messages.2.content.1: each tool_use must have a single result."},
		{blocksBody(user, twoUses, says(ofA, ofB), twoUses, says(ofA, ofB)), "messages.3.content.1: `tool_use` ids must be unique"},
		{blocksBody(user, strings.ReplaceAll(twoUses, `"a"`, `"f:1"`), says(ofA, ofB)), "messages.1.content.1.tool_use.id: String should match pattern"},
		{blocksBody(user, strings.ReplaceAll(twoUses, `{"x":1}`, `"x"`), says(ofA, ofB)), "messages.1.content.2.tool_use.input: Input should be a valid dictionary"},
		{blocksBody(asst), `messages: first message must use the "user" role`},
		{blocksBody(`{"role":"tool","content":"x"}`), "messages.0.role: Input should be"},
		{blocksBody(`{"role":"user","content":[]}`), "messages.0: all messages must have non-empty content"},
		{blocksBody(`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 5) + words + `]}`), "A maximum of 4 blocks"},
		{blocksBody(says(`{"type":"text","text":"` + strings.Repeat("long ", 200) + `"}`)), "prompt is too long: 294 tokens > 200 maximum"},
		{strings.Replace(blocksBody(user), "100", "300", 1), "input length and `max_tokens` exceed context limit: 9 + 300 > 200"},
		{`{"model":"m","messages":[]}`, "max_tokens: Field required"},
	} {
		_, r := u.Read("/messages", []byte(c.body))
		rec := httptest.NewRecorder()
		u.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(c.body)))
		switch {
		case r == nil && c.want != "", r != nil && (c.want == "" || !strings.HasPrefix(r.Message, c.want)):
			t.Errorf("%s\n%v\nwant %q", c.body, r, c.want)
		case r != nil && !strings.HasPrefix(strings.Join(strings.Fields(rec.Body.String()), ""), `{"error":{"message":`):
			t.Errorf("no envelope of this API: %s", rec.Body)
		}
	}
}

// TestMessagesAreAnswered: as a whole and as a stream, with thinking that comes back.
func TestMessagesAreAnswered(t *testing.T) {
	up := strict.New(strict.Options{
		Thinks: func(*strict.Request) *strict.Thought {
			return &strict.Thought{Type: "thinking", Thinking: "hm", Signature: "s"}
		},
		Reply: func(*strict.Request) strict.Reply {
			return strict.Reply{Text: "Let me look.", Calls: []strict.Call{{ID: "a", Name: "read", Arguments: `{"path":"a.go"}`}}}
		},
	})
	var whole struct {
		Content json.RawMessage
		Stop    string `json:"stop_reason"`
		Usage   struct {
			Input int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(taken(t, up, "/v1/messages", blocksBody(user))), &whole); err != nil || whole.Stop != "tool_use" || whole.Usage.Input != 9 {
		t.Fatalf("%+v %v", whole, err)
	}
	next := blocksBody(`{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}`,
		`{"role":"assistant","content":`+string(whole.Content)+`}`, says(ofA))
	var kinds []string
	stream := taken(t, up, "/v1/messages", strings.Replace(next, `"model"`, `"stream":true,"model"`, 1))
	for s := bufio.NewScanner(strings.NewReader(stream)); s.Scan(); {
		if kind, ok := strings.CutPrefix(s.Text(), "event: "); ok && (len(kinds) == 0 || kinds[len(kinds)-1] != kind) {
			kinds = append(kinds, kind)
		}
	}
	const block = "content_block_start content_block_delta content_block_stop "
	if got := strings.Join(kinds, " "); got != "message_start ping "+block+block+block+"message_delta message_stop" {
		t.Errorf("events: %s", got)
	}
}
