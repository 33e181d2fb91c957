package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Seal is what an answer of [Responses] says that is one sealed item: it stands for the
// history before it, and only who made it can read what it says.
type Seal struct {
	ID, Model, Text string
	Prompt, Tokens  int   // what was asked and what the item stands for cost
	Created         int64 // in seconds
	Stream          bool
}

// Unseal returns a body with a user's message in the place of each such item whose text
// has a prefix: open returns what it says. It returns nil where there is none.
func Unseal(body []byte, prefix string, open func(sealed string) string) []byte {
	if !bytes.Contains(body, []byte(`"`+prefix)) || !gjson.ValidBytes(body) {
		return nil
	}
	var parts [][]byte
	at := 0
	gjson.GetBytes(body, "input").ForEach(func(_, item gjson.Result) bool {
		sealed := item.Get("encrypted_content").String()
		if item.Get("type").String() != "compaction" || !strings.HasPrefix(sealed, prefix) {
			return true
		}
		said := quoted(open(sealed))
		parts = append(parts, body[at:item.Index], fmt.Appendf(nil, `{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, said))
		at = item.Index + len(item.Raw)
		return true
	})
	if parts == nil {
		return nil
	}
	return bytes.Join(append(parts, body[at:]), nil)
}

// Answer returns the media type and the text of the answer.
func (s Seal) Answer() (kind string, text []byte) {
	type object = map[string]any
	item := object{"type": "compaction", "id": "cmp_" + s.ID, "encrypted_content": s.Text}
	response := func(status string, usage object, output ...object) object {
		return object{
			"id": "resp_" + s.ID, "object": "response", "created_at": s.Created, "status": status, "model": s.Model,
			"output": append([]object{}, output...), "usage": usage,
		}
	}
	done := response("completed", object{
		"input_tokens": s.Prompt, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": s.Tokens, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": s.Prompt + s.Tokens,
	}, item)
	if !s.Stream {
		text, _ = json.Marshal(done)
		return "application/json", text
	}
	for n, e := range []object{
		{"type": "response.created", "response": response("in_progress", nil)},
		{"type": "response.output_item.added", "output_index": 0, "item": item},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": done},
	} {
		e["sequence_number"] = n
		data, _ := json.Marshal(e)
		text = fmt.Appendf(text, "event: %s\ndata: %s\n\n", e["type"], data)
	}
	return "text/event-stream", text
}
