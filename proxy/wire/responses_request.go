package wire

import (
	"math"
	"strings"

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

var responsesKeys = [][]string{responsesRequestKeys, itemKeys, partKeys, mediaKeys}

// itemDecoder reads one body of the API of responses.
type itemDecoder struct {
	decoder
	kinds  map[string]string // type of the item that answers a call, by its id
	states []itemState       // per message
	stored bool              // the upstream may know earlier items
	there  bool              // an item says that it is at the upstream
}

// Decode reads a body in one pass. Reasoning, text and calls of one turn are one
// message, although each is an item of the list.
func (responses) Decode(body []byte) (*Request, error) {
	if uint64(len(body)) > math.MaxUint32 {
		return nil, &PassError{Reason: TooLarge, Offset: math.MaxUint32}
	}
	kinds := make(map[string]string)
	d := itemDecoder{decoder: decoder{document: newDocument(body, responsesKeys, responsesDialect{kinds})}, kinds: kinds, stored: true}
	if !d.request() {
		err := d.err
		d.release()
		return nil, err
	}
	d.Wire = Responses.Name()
	d.Conversation.Rules = compact.Rules{LongestID: 64, OnceInList: true, MostMessages: -1}
	d.NoCalls = d.NoCalls || emptyList(d.Tools)
	return &d.Request, nil
}

func (d *itemDecoder) request() bool {
	if !d.opens() {
		return false
	}
	found, at := false, 0
	var instructions value
	var elsewhere, nothing *PassError
	refuse := func(to **PassError, reason Code, at uint32, detail string) {
		if *to == nil {
			*to = &PassError{Reason: reason, Detail: detail, Offset: int64(at)}
		}
	}
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, responsesRequestKeys) {
			return false
		}
		if o.name == "input" {
			if found, at = true, d.at; !d.input() && !d.nothing(&nothing) {
				return false
			}
			continue
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case "model":
			d.Model = strings.Clone(d.str(v))
		case "stream":
			d.Stream = v.kind == 't'
		case "store":
			d.stored = v.kind != 'f'
		case "instructions":
			instructions = v
		case "max_output_tokens":
			d.MaxTokens = d.wholeNumber(v)
		case "tools":
			d.Tools = d.unlessNull(v)
		case "text":
			if format := gjson.GetBytes(d.raw(v.span), "format"); v.kind == '{' && format.IsObject() && format.Get("type").String() != "text" {
				d.Format = []byte(format.Raw)
			}
		case "tool_choice":
			d.NoCalls = d.str(v) == "none"
		case "previous_response_id", "conversation":
			if !d.blank(v) {
				refuse(&elsewhere, HistoryElsewhere, v.start, o.name)
			}
		case "context_management":
			if !d.blank(v) {
				refuse(&elsewhere, ContextManaged, v.start, o.name)
			}
		case "client_metadata":
			turn := gjson.GetBytes(d.raw(v.span), "x-codex-turn-metadata").String()
			d.Compaction = d.Compaction || v.kind == '{' && gjson.Valid(turn) && gjson.Get(turn, "request_kind").String() == "compaction"
		}
	}
	if d.err != nil || elsewhere == nil && nothing == nil && !d.ends(found) {
		return false
	}
	switch {
	case elsewhere != nil:
		d.err = elsewhere
	case nothing != nil:
		d.err = nothing
	case d.there:
		return d.fail(HistoryElsewhere, at, "item_reference")
	}
	return d.err == nil && d.arrange(instructions, at)
}

// input reads the list of items, or a text that is all that the user says.
func (d *itemDecoder) input() bool {
	if d.peek() != '"' {
		return d.messages(d.item)
	}
	m, k := d.begin()
	m.Role = compact.User
	d.holder = inList
	if !d.content(m, k) {
		return false
	}
	d.end(k)
	d.states = append(d.states, itemState{})
	return true
}
