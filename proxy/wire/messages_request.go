package wire

import (
	"bytes"
	"cmp"
	"math"
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
func (messages) Decode(body []byte) (*Request, error) {
	if uint64(len(body)) > math.MaxUint32 {
		return nil, &PassError{Reason: TooLarge, Offset: math.MaxUint32}
	}
	d := messagesDecoder{decoder: decoder{document: newDocument(body, messagesKeys, messagesDialect{})}}
	if !d.request() {
		err := d.err
		d.release()
		return nil, err
	}
	// An answer at the end is the start of the one that is asked for, unless it calls.
	last := &d.msgs[len(d.msgs)-1]
	last.Open = last.Role == compact.Assistant && d.marks[len(d.marks)-1].calls.from == uint32(len(d.calls))
	if d.system != nil {
		d.first(d.system, d.place)
	}
	d.attach()
	d.Wire, d.same = Messages.Name(), sameMessage
	d.NoCalls = d.NoCalls || emptyList(d.Tools)
	d.Conversation.Rules = compact.Rules{LongestID: 64, OnceInList: true, PlainIDs: true, MostMessages: mostMessages}
	return &d.Request, nil
}

// first puts a message before all others.
func (d *document) first(m *compact.Message, k mark) {
	d.msgs, d.marks = slices.Insert(d.msgs, 0, *m), slices.Insert(d.marks, 0, k)
	for i := range d.msgs {
		d.msgs[i].Origin = i
	}
}

func (d *messagesDecoder) request() bool {
	if !d.opens() {
		return false
	}
	found := false
	var nothing *PassError // messages says nothing
	var passes *PassError  // what keeps the list from being edited
	refuse := func(reason Code, v value, detail string) {
		if passes == nil {
			passes = &PassError{Reason: reason, Detail: detail, Offset: int64(v.start)}
		}
	}
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, messagesRequestKeys) {
			return false
		}
		switch o.name {
		case "messages":
			if found = true; !d.messages(d.message) && !d.nothing(&nothing) {
				return false
			}
			continue
		case "system":
			if !d.instructions() {
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
		case "max_tokens":
			d.MaxTokens = d.wholeNumber(v)
		case "tools":
			d.Tools = d.unlessNull(v)
		case "tool_choice":
			d.NoCalls = v.kind == '{' && d.ahead(int(v.start), "type") == "none"
		case "thread", "mcp_servers":
			if !d.blank(v) {
				refuse(HistoryElsewhere, v, o.name)
			}
		case "container": // one with skills alone is new
			if v.kind == '"' || v.kind == '{' && d.ahead(int(v.start), "id") != "" {
				refuse(HistoryElsewhere, v, o.name)
			}
		case "compaction":
			if !d.blank(v) {
				refuse(ContextManaged, v, o.name)
			}
		case "context_management":
			if d.edits(v) {
				refuse(ContextManaged, v, o.name)
			}
		}
	}
	if d.err != nil || !d.ends(found) {
		return false
	}
	d.err = cmp.Or(passes, nothing)
	return d.err == nil
}

// edits reports whether the upstream is asked to edit the list itself. Leaving out
// thinking does not count: what is sent stays the same.
func (d *messagesDecoder) edits(v value) bool {
	raw := d.raw(v.span)
	return v.kind == '{' && (bytes.Contains(raw, []byte("clear_tool_uses")) || bytes.Contains(raw, []byte("compact")))
}

// instructions reads those beside the list. They stay as they are.
func (d *messagesDecoder) instructions() bool {
	m := compact.Message{Role: compact.System}
	k := mark{parts: runAt(len(d.parts)), calls: runAt(len(d.calls))}
	k.content.start = uint32(d.at)
	add := func(text value) {
		d.parts = append(d.parts, compact.Part{Nth: uint32(len(d.parts)) - k.parts.from + 1, Text: d.textOf(text)})
		d.ofParts = append(d.ofParts, place{element: noElement})
	}
	switch d.peek() {
	case 'n':
		return d.literal("null")
	case '"':
		m.Shape = compact.String
		v, ok := d.value()
		if !ok {
			return false
		}
		add(v)
	case '[':
		m.Shape = compact.Array
		var a array
		for d.element(&a) {
			if d.peek() != '{' {
				return d.wrongField("system")
			}
			if d.crowded() {
				return false
			}
			var o object
			for d.key(&o) {
				if !d.unambiguous(&o, partKeys) {
					return false
				}
				v, ok := d.value()
				if !ok {
					return false
				}
				if o.name == "text" && v.kind == '"' && !strings.HasPrefix(d.view(int(v.start)+1, int(v.end)), volatile) {
					add(v)
				}
			}
		}
	default:
		return d.wrongField("system")
	}
	k.content.end, k.parts.to = uint32(d.at), uint32(len(d.parts))
	if k.parts.from < k.parts.to {
		d.system, d.place = &m, k
	}
	return d.err == nil
}

// volatile begins a line of Claude Code's instructions that names its version, and in
// some versions the request. It is not the model's, and would make every request
// another conversation.
const volatile = "x-anthropic-billing-header:"

// wrongField refuses the value of a field of the request for its type.
func (d *decoder) wrongField(name string) bool {
	if !startsValue(d.peek()) {
		return d.fail(InvalidJSON, d.at, "")
	}
	return d.fail(WrongType, d.at, name)
}

// ahead returns a string that the object at a place has under a key, before it is read.
func (s *scanner) ahead(at int, key string) (text string) {
	was := *s
	s.at = at
	var o object
	for s.key(&o) && text == "" {
		v, ok := s.value()
		if !ok {
			break
		}
		if o.name == key {
			text = s.str(v)
		}
	}
	*s = was
	return text
}
