package wire

import (
	"github.com/tidwall/gjson"

	"laconic/compact"
)

// The keys that are read of a request and of its items.
var (
	responsesRequestKeys = []string{
		"model", "input", "instructions", "stream", "store", "max_output_tokens", "tools", "tool_choice", "text",
		"previous_response_id", "conversation", "context_management", "client_metadata",
	}
	itemKeys = []string{
		"type", "role", "content", "call_id", "id", "name", "arguments", "input", "output", "async", "status",
		"summary", "encrypted_content", "result",
	}
)

// itemDecoder reads one body of the API of responses.
type itemDecoder struct {
	decoder
	states  []itemState     // per message
	callers []string        // types of the items that call, as document.calls has the calls
	ids     map[string]bool // of the items so far
	stored  bool            // the upstream may know earlier items
	there   bool            // an item says that it is at the upstream

	instructions value // beside the list
	inputAt      int   // where the list is
}

// Decode reads a body in one pass. Reasoning, text and calls of one turn are one
// message, although each is an item of the list.
func (w *responses) Decode(body []byte) (*Request, error) {
	document := newDocument(body, w, "input_text", responsesRequestKeys, itemKeys, partKeys, mediaKeys)
	d := itemDecoder{decoder: decoder{document: document}, ids: make(map[string]bool), stored: true}
	d.request("input", responsesRequestKeys, d.input, d.field)
	if d.err == nil {
		d.arrange()
	}
	if d.err != nil {
		return nil, d.err
	}
	d.Conversation.Rules = compact.Rules{LongestID: 64, OnceInList: true, MostMessages: -1}
	return &d.Request, nil
}

// field reads what the API has beside its list.
func (d *itemDecoder) field(name string, v value) {
	switch name {
	case "store":
		d.stored = v.kind != 'f'
	case "instructions":
		d.instructions = v
	case "text":
		if format := gjson.GetBytes(d.raw(v.extent), "format"); v.kind == '{' && format.IsObject() && format.Get("type").String() != "text" {
			d.Format = []byte(format.Raw)
		}
	case "previous_response_id", "conversation":
		if !d.blank(v) {
			d.pass(HistoryElsewhere, v, name)
		}
	case "context_management":
		if !d.blank(v) {
			d.pass(ContextManaged, v, name)
		}
	case "client_metadata":
		turn := gjson.GetBytes(d.raw(v.extent), "x-codex-turn-metadata").String()
		d.Compaction = d.Compaction || v.kind == '{' && gjson.Valid(turn) && gjson.Get(turn, "request_kind").String() == "compaction"
	}
}

// input reads the list of items, or a text that is all that the user says.
func (d *itemDecoder) input() {
	if d.inputAt = d.at; d.peek() != '"' {
		d.list(d.item)
		return
	}
	m, k := d.begin()
	m.Role = compact.User
	d.holder = inList
	d.content(m, k)
	d.end(k)
	d.states = append(d.states, itemState{})
}
