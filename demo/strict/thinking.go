package strict

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
)

// signing is the key that signs thinking. It is the same for every Upstream, so
// that each accepts the signatures of the others.
var signing = []byte("strict")

// thinkingBlock is thinking as LiteLLM sends it.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// chained is how many bytes of a signature name the previous one.
const chained = 8

// conversation is the part of a request that was read so far.
type conversation struct {
	prefix []byte // hash of all values so far, without thinking
	before []byte // names the newest signature; zeros for none
}

// grow adds a JSON value, with sorted keys and without thinking.
func (c *conversation) grow(raw json.RawMessage) {
	var v any
	var piece []byte
	if json.Unmarshal(raw, &v) == nil {
		piece = marshal(bare(v))
	}
	sum := sha256.Sum256(append(c.prefix, piece...))
	c.prefix = sum[:]
}

// sign returns the signature of thinking at this place, after the thinking that
// before names.
func (c *conversation) sign(thinking string, before []byte) string {
	mac := hmac.New(sha256.New, signing)
	mac.Write(c.prefix)
	mac.Write(before)
	mac.Write([]byte(thinking))
	return base64.StdEncoding.EncodeToString(append(bytes.Clone(before), mac.Sum(nil)...))
}

// take adds the thinking of a message and reports whether it was signed for this
// place.
func (c *conversation) take(b thinkingBlock) bool {
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
func bind(body []byte, thought string) (thinkingBlock, *Refusal) {
	var top map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(body, &top) != nil || json.Unmarshal(top["messages"], &list) != nil {
		return thinkingBlock{}, nil
	}
	c := &conversation{before: make([]byte, chained)}
	for _, key := range []string{"model", "tools", "functions", "system"} {
		c.grow(top[key])
	}
	for i, raw := range list {
		var m struct {
			Blocks  []thinkingBlock `json:"thinking_blocks"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(raw, &m) != nil {
			return thinkingBlock{}, refuseThinking(i, 0, true)
		}
		for n, b := range m.Blocks {
			if !c.take(b) {
				return thinkingBlock{}, refuseThinking(i, n, true)
			}
		}
		blocks, _ := content(m.Content)
		for n, b := range blocks {
			if b.Type == "thinking" && !c.take(thinkingBlock{b.Type, b.Thinking, b.Signature}) {
				return thinkingBlock{}, refuseThinking(i, n, false)
			}
		}
		c.grow(raw)
	}
	return thinkingBlock{"thinking", thought, c.sign(thought, c.before)}, nil
}

// misbound refuses thinking that was signed for another place.
func (u *Upstream) misbound(req *Request) (r *Refusal) {
	if u.o.Thinks != nil {
		_, r = bind(req.Body, "")
	}
	return r
}

// refuseThinking returns Anthropic's refusal, as LiteLLM wraps it or as it is.
func refuseThinking(i, n int, wrapped bool) *Refusal {
	r := refuse(KindThinking, "", "", "messages.%d.content.%d: Invalid signature in thinking block. The block is bound to a different conversation. "+
		"Remove the block, or set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\".", i, n)
	if wrapped {
		r.anthropic = true
		r = &Refusal{
			Kind: KindThinking, Status: http.StatusBadRequest, Code: "400",
			Message: "litellm.BadRequestError: AnthropicException - " + string(bytes.TrimSpace(r.Body())) + ". Received Model Group=claude",
		}
	}
	return r
}

// thinking returns the text of the thinking of a message.
func (o object) thinking() (text string) {
	var blocks []thinkingBlock
	_ = json.Unmarshal(o.fields["thinking_blocks"], &blocks) // OpenAI does not know the field
	for _, b := range blocks {
		text += b.Thinking
	}
	return text
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
