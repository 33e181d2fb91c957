package survival

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// signing is the key that signs thinking. It is the same for every Upstream, so
// that each accepts the signatures of the others.
var signing = []byte("strict")

// chained is how many bytes of a signature name the previous one.
const chained = 8

// bound is the part of a request that was read so far.
type bound struct {
	prefix []byte // hash of all values so far, without thinking
	before []byte // names the newest signature; zeros for none
}

// grow adds a JSON value, with sorted keys and without thinking.
func (c *bound) grow(raw json.RawMessage) {
	var v any
	var piece []byte
	if json.Unmarshal(raw, &v) == nil {
		piece, _ = json.Marshal(bare(v)) // of what was JSON
	}
	sum := sha256.Sum256(append(c.prefix, piece...))
	c.prefix = sum[:]
}

// sign returns the signature of thinking at this place, after the thinking that
// before names.
func (c *bound) sign(thinking string, before []byte) string {
	mac := hmac.New(sha256.New, signing)
	mac.Write(c.prefix)
	mac.Write(before)
	mac.Write([]byte(thinking))
	return base64.StdEncoding.EncodeToString(append(bytes.Clone(before), mac.Sum(nil)...))
}

// take adds the thinking of a message and reports whether it was signed for this
// place.
func (c *bound) take(b strict.Thought) bool {
	raw, err := base64.StdEncoding.DecodeString(b.Signature)
	if err != nil || len(raw) != chained+sha256.Size {
		return false
	}
	first := bytes.Equal(c.before, make([]byte, chained)) // only the oldest may be missing
	if before := raw[:chained]; b.Signature != c.sign(b.Thinking, before) || !first && !bytes.Equal(before, c.before) {
		return false
	}
	name := sha256.Sum256([]byte(b.Signature))
	c.before = name[:chained]
	return true
}

// bind refuses a request with thinking that was signed for another place, and
// returns the thinking of the answer. The rules are those that Anthropic
// documents: thinking is bound to model, system prompt, tools and all messages
// before it, without the thinking in them; each block names the previous one; the
// oldest blocks may be left out. Blocks stand in the content of a message, or beside it
// as at LiteLLM.
func bind(body []byte, thought string) (strict.Thought, *strict.Refusal) {
	var top map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(body, &top) != nil || json.Unmarshal(top["messages"], &list) != nil {
		return strict.Thought{}, nil
	}
	c := &bound{before: make([]byte, chained)}
	for _, key := range []string{"model", "tools", "functions", "system"} {
		c.grow(top[key])
	}
	for i, raw := range list {
		var m struct {
			Blocks  []strict.Thought `json:"thinking_blocks"`
			Content json.RawMessage  `json:"content"`
		}
		if json.Unmarshal(raw, &m) != nil {
			return strict.Thought{}, refuseThinking(i, 0, true)
		}
		for n, b := range m.Blocks {
			if !c.take(b) {
				return strict.Thought{}, refuseThinking(i, n, true)
			}
		}
		var blocks []strict.Thought
		_ = json.Unmarshal(m.Content, &blocks) // nil of a text
		for n, b := range blocks {
			if b.Type == "thinking" && !c.take(b) {
				return strict.Thought{}, refuseThinking(i, n, false)
			}
		}
		c.grow(raw)
	}
	return strict.Thought{Type: "thinking", Thinking: thought, Signature: c.sign(thought, c.before)}, nil
}

// kindThinking is the kind of refusals of thinking that is bound to another place.
const kindThinking strict.Kind = "thinking"

// misbound refuses thinking that was signed for another place.
func misbound(r *strict.Request) *strict.Refusal {
	_, refusal := bind(r.Body, "")
	return refusal
}

// refuseThinking returns Anthropic's refusal, as LiteLLM wraps it or as it is.
func refuseThinking(i, n int, wrapped bool) *strict.Refusal {
	r := &strict.Refusal{
		Kind: kindThinking, Status: http.StatusBadRequest, Type: "invalid_request_error",
		Message: fmt.Sprintf("messages.%d.content.%d: Invalid signature in thinking block. The block is bound to a different conversation. "+
			"Remove the block, or set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\".", i, n),
	}
	if wrapped {
		inner, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": r.Type, "message": r.Message}})
		r.Type, r.Code, r.Message = "", "400", "litellm.BadRequestError: AnthropicException - "+string(inner)+". Received Model Group=claude"
	}
	return r
}

// bare returns a JSON value without thinking and cache markers. A text is the same as
// one block.
func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"thinking_blocks", "reasoning_content", "cache_control"} {
			delete(v, key)
		}
		if text, ok := v["content"].(string); ok {
			v["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		for key := range v {
			v[key] = bare(v[key])
		}
	case []any:
		kept := v[:0]
		for i := range v {
			if b, ok := v[i].(map[string]any); !ok || b["type"] != "thinking" {
				kept = append(kept, bare(v[i]))
			}
		}
		return kept
	}
	return v
}

// TestThinkingIsBoundToWhatStoodBeforeIt: the rules that Anthropic documents.
func TestThinkingIsBoundToWhatStoodBeforeIt(t *testing.T) {
	u := strict.New(strict.Options{Rule: misbound})
	const head = `{"model":"m","messages":[{"role":"user","content":"go"}`
	blocks := func(body string) string {
		b, refusal := bind([]byte(body), "so")
		if refusal != nil {
			t.Fatalf("%v: %s", refusal, body)
		}
		raw, _ := json.Marshal([]strict.Thought{b})
		return string(raw)
	}
	says := func(thinking string) string {
		if thinking != "" {
			thinking = `,"thinking_blocks":` + thinking
		}
		return `,{"role":"assistant","content":"on"` + thinking + `},{"role":"user","content":"and"}`
	}
	one := blocks(head + "]}")
	two := blocks(head + says(one) + "]}")
	three := blocks(head + says(one) + says(two) + "]}")
	all := head + says(one) + says(two) + says(three) + "]}"
	for _, c := range []struct {
		name, body string
		refused    bool
	}{
		{"as it was", all, false},
		{"the oldest is away", head + says("") + says(two) + says(three) + "]}", false},
		{"all are away", head + says("") + says("") + says("") + "]}", false},
		{"one of the middle is away", head + says(one) + says("") + says(three) + "]}", true},
		{"the newest is away", head + says(one) + says(two) + says("") + "]}", false},
		{"written without the oldest, which came back", head + says(one) + says(blocks(head+says("")+"]}")) + "]}", true},
		{"another system prompt", strings.Replace(all, `[{"role":"user"`, `[{"role":"system","content":"x"},{"role":"user"`, 1), true},
		{"another first message", strings.Replace(all, `"go"`, `"go!"`, 1), true},
		{"other tools", strings.Replace(all, `{"model"`, `{"tools":[{"type":"function","function":{"name":"f"}}],"model"`, 1), true},
		{"another model", strings.Replace(all, `"m"`, `"n"`, 1), true},
		{"a mark of a cache", strings.Replace(all, `"content":"go"`, `"content":"go","cache_control":{"type":"ephemeral"}`, 1), false},
		{"other thinking", strings.Replace(all, `"so"`, `"no"`, 1), true},
		{"a change behind it", strings.Replace(all, `"on","thinking_blocks":`+three, `"on!","thinking_blocks":`+three, 1), false},
	} {
		_, r := u.Read("/chat/completions", []byte(c.body))
		if c.refused != (r != nil) || r != nil && (r.Kind != kindThinking || !strings.Contains(r.Message, "bound to a different conversation")) {
			t.Errorf("%s: %v", c.name, r)
		}
	}
	messages := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}`
	b, _ := bind([]byte(messages+"]}"), "so")
	raw, _ := json.Marshal([]any{b, map[string]string{"type": "text", "text": "on"}})
	messages += `,{"role":"assistant","content":` + string(raw) + `},{"role":"user","content":"and"}]}`
	if _, r := u.Read("/messages", []byte(messages)); r != nil {
		t.Errorf("a block: %v", r)
	}
	if _, r := u.Read("/messages", []byte(strings.Replace(messages, `"go"`, `"ho"`, 1))); r == nil || r.Kind != kindThinking {
		t.Errorf("a block of another conversation: %v", r)
	}
}
