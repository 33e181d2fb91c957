package wire

import (
	"bytes"
	"slices"

	"laconic/compact"
)

// The keys that are read, level by level; those of blocks other than calls and
// results are the chat API's.
var (
	messagesRequestKeys = []string{
		"model", "messages", "system", "stream", "max_tokens", "tools", "tool_choice",
		"thread", "container", "context_management", "compaction", "mcp_servers",
	}
	messagesMessageKeys = []string{"role", "content"}
	messagesBlockKeys   = []string{"type", "id", "name", "input", "tool_use_id", "content", "is_error", "cache_control"}
)

// messagesDecoder reads one body of the messages API.
type messagesDecoder struct {
	decoder
	system value // the instructions beside the list
}

// mostMessages is how many messages Anthropic takes.
const mostMessages = 100_000

// Decode reads a body in one pass, but for the types of its blocks, which are looked
// for first.
func (w *messages) Decode(body []byte) (*Request, error) {
	document := newDocument(body, w, "text", messagesRequestKeys, messagesMessageKeys, messagesBlockKeys, partKeys, mediaKeys)
	d := messagesDecoder{decoder: decoder{document: document}}
	d.request("messages", messagesRequestKeys, func() { d.list(d.message) }, d.field)
	if d.err != nil {
		return nil, d.err
	}
	// An answer at the end is the start of the one that is asked for, unless it calls.
	last := &d.msgs[len(d.msgs)-1]
	last.Open = last.Role == compact.Assistant && d.marks[len(d.marks)-1].calls.from == uint32(len(d.calls))
	if d.instructions(); d.err != nil {
		return nil, d.err
	}
	d.attach()
	d.same = sameMessage
	d.Conversation.Rules = compact.Rules{LongestID: 64, OnceInList: true, PlainIDs: true, MostMessages: mostMessages}
	return &d.Request, nil
}

// lead puts the message that was begun last before all others, if it says anything. It
// stands beside the list, so nothing is added to it or moved out of it.
func (d *document) lead() {
	n := len(d.msgs) - 1
	m, k := d.msgs[n], d.marks[n]
	m.Seal = compact.SealText
	if d.msgs, d.marks = d.msgs[:n], d.marks[:n]; k.parts.from == k.parts.to {
		return
	}
	d.msgs, d.marks = slices.Insert(d.msgs, 0, m), slices.Insert(d.marks, 0, k)
}

// field reads what the API has beside its list.
func (d *messagesDecoder) field(name string, v value) {
	switch name {
	case "system":
		d.system = v
	case "thread", "mcp_servers":
		if !d.blank(v) {
			d.pass(HistoryElsewhere, v, name)
		}
	case "container": // one with skills alone is new
		if v.kind == '"' || v.kind == '{' && d.ahead(int(v.start), "id") != "" {
			d.pass(HistoryElsewhere, v, name)
		}
	case "compaction":
		if !d.blank(v) {
			d.pass(ContextManaged, v, name)
		}
	case "context_management": // leaving out thinking does not count: what is sent stays the same
		raw := d.raw(v.extent)
		if v.kind == '{' && (bytes.Contains(raw, []byte("clear_tool_uses")) || bytes.Contains(raw, []byte("compact"))) {
			d.pass(ContextManaged, v, name)
		}
	}
}

// instructions reads those beside the list. They stay as they are.
func (d *messagesDecoder) instructions() {
	if d.system.kind == 0 || d.system.kind == 'n' {
		return
	}
	m, k := d.begin()
	m.Role, m.Shape, k.content = compact.System, compact.String, d.system.extent
	d.at = int(d.system.start)
	switch d.system.kind {
	case '"':
		d.addPart(compact.Part{Text: d.textOf(d.system)}, place{element: noElement})
	case '[':
		m.Shape = compact.Array
		for a := (array{}); d.element(&a); {
			if d.peek() != '{' {
				d.fail(WrongType, d.at, "system")
				return
			}
			for o := (object{}); d.key(&o, partKeys); {
				if o.name == "text" && d.peek() == '"' && !bytes.HasPrefix(d.src[d.at+1:], []byte(volatile)) {
					d.addPart(compact.Part{Text: d.textOf(d.read())}, place{element: noElement})
				}
			}
		}
	default:
		d.fail(WrongType, d.at, "system")
	}
	d.end(k)
	d.lead()
}

// volatile begins a line of Claude Code's instructions that names its version, and in
// some versions the request. It is not the model's, and would make every request
// another conversation.
const volatile = "x-anthropic-billing-header:"
