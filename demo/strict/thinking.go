package strict

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
)

// KindThinking is the kind of a refusal of thinking that is bound to another conversation.
const KindThinking Kind = "thinking"

// signing is the key by which thinking is signed: that of no account, so that every Upstream reads what
// another has written.
var signing = []byte("strict")

// thinkingBlock is thinking as LiteLLM hands it on.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// chained is how much of a signature names the one before it, of the signature's sum.
const chained = 8

// conversation is the state of a walk over a request: what stood before a message, without thinking, and the
// newest thinking so far.
type conversation struct {
	prefix []byte
	before []byte // names the newest signature; zeros for none
}

func newConversation(top object) *conversation {
	c := &conversation{before: make([]byte, chained)}
	for _, key := range []string{"model", "tools", "functions"} {
		c.grow(canonical(top[key]))
	}
	return c
}

func (c *conversation) grow(piece []byte) {
	h := sha256.New()
	h.Write(c.prefix)
	h.Write(piece)
	c.prefix = h.Sum(nil)
}

// sign is the signature of a thinking that is written now, behind the thinking that before names.
func (c *conversation) sign(thinking string, before []byte) string {
	mac := hmac.New(sha256.New, signing)
	mac.Write(c.prefix)
	mac.Write(before)
	mac.Write([]byte(thinking))
	return base64.StdEncoding.EncodeToString(append(bytes.Clone(before), mac.Sum(nil)...))
}

// take reads the thinking of a message and reports whether it belongs here.
func (c *conversation) take(b thinkingBlock) bool {
	raw, err := base64.StdEncoding.DecodeString(b.Signature)
	if err != nil || len(raw) != chained+sha256.Size {
		return false
	}
	first := bytes.Equal(c.before, make([]byte, chained)) // the oldest may be away, but none from the middle
	if before := raw[:chained]; b.Signature != c.sign(b.Thinking, before) || !first && !bytes.Equal(before, c.before) {
		return false
	}
	name := sha256.Sum256([]byte(b.Signature))
	c.before = name[:chained]
	return true
}

// bind checks that all thinking of a request stands behind what it was written behind, and returns the
// thinking of the answer to it. The rules are those that Anthropic documents: thinking is bound to model,
// system prompt, tools and all messages before it, but for the thinking in them; each piece names the one
// before it; the oldest ones may be left out. Where moved is the index of the message that breaks them.
func bind(body []byte, thought string) (b thinkingBlock, moved int) {
	var top object
	var list []json.RawMessage
	if json.Unmarshal(body, &top) != nil || json.Unmarshal(top["messages"], &list) != nil {
		return b, -1
	}
	c := newConversation(top)
	for i, raw := range list {
		var m struct {
			Blocks []thinkingBlock `json:"thinking_blocks"`
		}
		if json.Unmarshal(raw, &m) != nil {
			return b, i
		}
		for _, b := range m.Blocks {
			if !c.take(b) {
				return b, i
			}
		}
		c.grow(canonical(raw))
	}
	return thinkingBlock{"thinking", thought, c.sign(thought, c.before)}, -1
}

// thoughts is what the thinking of a message says.
func thoughts(message object) (text string) {
	var blocks []thinkingBlock
	if v, ok := given(message, "thinking_blocks"); ok && json.Unmarshal(v, &blocks) == nil {
		for _, b := range blocks {
			text += b.Thinking
		}
	}
	return text
}

// canonical is a value without thinking and marks of a cache, its keys in order.
func canonical(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return marshal(bare(v))
}

func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"thinking_blocks", "reasoning_content", "cache_control"} {
			delete(v, key)
		}
		for key := range v {
			v[key] = bare(v[key])
		}
	case []any:
		for i := range v {
			v[i] = bare(v[i])
		}
	}
	return v
}

// misbound is the refusal of Anthropic, in the envelope of LiteLLM.
func misbound(i int) *Refusal {
	said := marshal(map[string]any{"type": "error", "error": map[string]string{
		"type": "invalid_request_error",
		"message": fmt.Sprintf("messages.%d.content.0: Invalid signature in thinking block. The block is bound to a different conversation. "+
			"Remove the block, or set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\".", i),
	}})
	return &Refusal{
		Kind: KindThinking, Status: http.StatusBadRequest, Code: "400",
		Message: "litellm.BadRequestError: AnthropicException - " + string(said) + ". Received Model Group=claude",
	}
}
