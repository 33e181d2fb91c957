package wire

import (
	"bytes"
	"slices"
	"strings"

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

var messagesKeys = [][]string{messagesRequestKeys, messagesMessageKeys, messagesBlockKeys, partKeys, mediaKeys}

// messagesDecoder reads one body of the messages API.
type messagesDecoder struct {
	decoder
	system *compact.Message // the instructions beside the list, nil if there are none
	place  mark             // of system
}

// mostMessages is how many messages Anthropic takes.
const mostMessages = 100_000

// Decode reads a body in one pass, but for the types of its blocks, which are looked
// for first.
func (*messages) Decode(body []byte) (*Request, error) {
	d := messagesDecoder{decoder: decoder{document: newDocument(body, messagesKeys, messagesDialect{})}}
	d.request("messages", messagesRequestKeys, func() { d.list(d.message) }, d.field)
	if d.err != nil {
		return nil, d.err
	}
	// An answer at the end is the start of the one that is asked for, unless it calls.
	last := &d.msgs[len(d.msgs)-1]
	last.Open = last.Role == compact.Assistant && d.marks[len(d.marks)-1].calls.from == uint32(len(d.calls))
	if d.system != nil {
		d.first(d.system, d.place)
	}
	d.attach()
	d.same = sameMessage
	d.Conversation.Rules = compact.Rules{LongestID: 64, OnceInList: true, PlainIDs: true, MostMessages: mostMessages}
	return d.complete(Messages), nil
}

// first puts a message before all others.
func (d *document) first(m *compact.Message, k mark) {
	d.msgs, d.marks = slices.Insert(d.msgs, 0, *m), slices.Insert(d.marks, 0, k)
	for i := range d.msgs {
		d.msgs[i].Origin = i
	}
}

// field reads what the API has beside its list.
func (d *messagesDecoder) field(name string, v value) {
	switch name {
	case "system":
		after := d.at
		d.at = int(v.start)
		d.instructions()
		d.at = after
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
	case "context_management":
		if d.edits(v) {
			d.pass(ContextManaged, v, name)
		}
	}
}

// edits reports whether the upstream is asked to edit the list itself. Leaving out
// thinking does not count: what is sent stays the same.
func (d *messagesDecoder) edits(v value) bool {
	raw := d.raw(v.span)
	return v.kind == '{' && (bytes.Contains(raw, []byte("clear_tool_uses")) || bytes.Contains(raw, []byte("compact")))
}

// instructions reads those beside the list. They stay as they are.
func (d *messagesDecoder) instructions() {
	m := compact.Message{Role: compact.System, Shape: compact.String}
	k := mark{parts: runAt(len(d.parts)), calls: runAt(len(d.calls))}
	k.content.start = uint32(d.at)
	add := func(text value) {
		d.crowd()
		d.parts = append(d.parts, compact.Part{Nth: uint32(len(d.parts)) - k.parts.from + 1, Text: d.textOf(text)})
		d.ofParts = append(d.ofParts, place{element: noElement})
	}
	switch d.peek() {
	case 'n':
	case '"':
		add(d.read())
	case '[':
		m.Shape = compact.Array
		for a := (array{}); d.element(&a); {
			if d.peek() != '{' {
				d.fail(WrongType, d.at, "system")
				return
			}
			for o := (object{}); d.key(&o, partKeys); {
				if o.name != "text" || d.peek() != '"' {
					continue
				}
				if v := d.read(); !strings.HasPrefix(d.inside(v), volatile) {
					add(v)
				}
			}
		}
	default:
		d.fail(WrongType, d.at, "system")
	}
	k.content.end, k.parts.to = uint32(d.at), uint32(len(d.parts))
	if k.parts.from < k.parts.to {
		d.system, d.place = &m, k
	}
}

// volatile begins a line of Claude Code's instructions that names its version, and in
// some versions the request. It is not the model's, and would make every request
// another conversation.
const volatile = "x-anthropic-billing-header:"
