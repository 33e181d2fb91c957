package wire

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"laconic/compact"
)

// The keys that are read, level by level. One of them in another spelling
// makes a body ambiguous.
var (
	requestKeys = []string{
		"model", "messages", "stream", "max_tokens", "max_completion_tokens", "tools", "functions",
		"response_format", "continue_final_message", "add_generation_prompt",
	}
	messageKeys = []string{
		"role", "content", "name", "tool_calls", "function_call", "tool_call_id", "refusal", "audio",
		"annotations", "prefix", "partial", "reasoning_content", "reasoning", "reasoning_text",
		"reasoning_details", "thinking", "thinking_blocks", "redacted_thinking", "signature",
		"thought_signature", "encrypted_content", "extra_content", "provider_specific_fields",
	}
	callKeys = []string{"id", "type", "function", "custom", "extra_content", "provider_specific_fields"}
	partKeys = []string{
		"type", "text", "image_url", "input_audio", "file", "refusal", "thinking", "detail",
		"filename", "file_data", "file_id", "file_url",
	}
	pairKeys  = []string{"name", "arguments", "input"}
	mediaKeys = []string{"url", "detail", "data", "format", "file_data", "filename", "file_id"}
)

// decoder reads one body. Its rules for parts and reasoning hold for all APIs, because
// servers take the forms of others.
type decoder struct {
	*document
	holder int32 // the element of the message that was read last
	going  bool  // the request asks to go on with its last message
	flags        // of the message that was read last
}

// flags say of a message what decides once all of it was read.
type flags struct {
	opened bool // the model is to go on with it
	byName bool // it is a result without an id
	thinks bool // it has thinking
	bound  bool // which is bound to what comes before it
}

// Decode reads a body in one pass, after it was checked.
func (w *chat) Decode(body []byte) (*Request, error) {
	d := decoder{document: newDocument(body, w, "text", requestKeys, messageKeys, callKeys, partKeys, pairKeys, mediaKeys)}
	d.request("messages", requestKeys, func() { d.list(d.message) }, func(name string, v value) {
		switch name {
		case "function_call":
			d.NoCalls = d.NoCalls || d.str(v) == "none"
		case "continue_final_message":
			d.going = d.going || v.kind == 't'
		case "add_generation_prompt":
			d.going = d.going || v.kind == 'f'
		}
	})
	if d.err != nil {
		return nil, d.err
	}
	d.attach()
	if last := &d.msgs[len(d.msgs)-1]; last.Role == compact.Assistant {
		last.Open = d.going || d.opened
	}
	return &d.Request, nil
}

// request reads the object of a request: what all APIs have; its list, which read
// reads; and the rest, which field gets. In the end err says why the body is not read.
func (d *decoder) request(list string, keys []string, read func(), field func(name string, v value)) {
	if d.err != nil {
		return
	}
	d.nothing = &PassError{Reason: MessagesMissing}
	if d.space(); d.peek() != '{' {
		d.fail(NotObject, d.at, "")
	}
	for o := (object{}); d.key(&o, keys); {
		if o.name == list {
			d.nothing = nil
			read()
			continue
		}
		v := d.read()
		switch o.name {
		case "model":
			d.Model = strings.Clone(d.str(v))
		case "stream":
			d.Stream = v.kind == 't'
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			d.MaxTokens = max(d.MaxTokens, d.wholeNumber(v))
		case "tools":
			d.Tools = d.unlessNull(v)
		case "functions":
			d.Functions = d.unlessNull(v)
		case "response_format":
			d.Format = d.unlessNull(v)
		case "tool_choice":
			kind := d.str(v)
			if v.kind == '{' {
				kind = d.ahead(int(v.start), "type")
			}
			d.NoCalls = d.NoCalls || kind == "none"
		default:
			field(o.name, v)
		}
	}
	if d.err != nil || d.unsure || len(trimSpace(d.src[d.at:])) > 0 {
		d.err = cmp.Or(d.check(), d.err)
	}
	d.err = cmp.Or(d.err, d.passes, d.nothing)
	d.NoCalls = d.NoCalls || d.err == nil && emptyList(d.Tools) && emptyList(d.Functions)
}

// pass notes the first reason why a body that can be read is not.
func (d *document) pass(reason Code, v value, detail string) {
	d.passes = cmp.Or(d.passes, &PassError{Reason: reason, Detail: detail, Offset: int64(v.start)})
}

// unlessNull returns the raw value, nil for null.
func (d *document) unlessNull(v value) []byte {
	if v.kind == 'n' {
		return nil
	}
	return d.raw(v.extent)
}

// emptyList reports whether a raw value is absent or a list of nothing.
func emptyList(raw []byte) bool {
	return len(raw) == 0 || raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

// list reads the list of the request, each element of it by one.
func (d *document) list(one func()) {
	start := d.at
	switch d.peek() {
	case '[':
		for a := (array{}); d.element(&a); {
			one()
		}
		if len(d.msgs) == 0 {
			d.nothing = &PassError{Reason: MessagesEmpty, Offset: int64(start)}
		}
	case 'n':
		d.nothing = &PassError{Reason: MessagesNull, Offset: int64(start)}
	default:
		d.fail(MessagesNotArray, start, "")
	}
}

// start begins the message of an element of the list, and reports whether that is an
// object.
func (d *decoder) start() bool {
	d.begin()
	d.flags, d.said = flags{}, d.said[:0]
	if d.peek() != '{' {
		d.inMessage(MessageNotObject, d.at)
		return false
	}
	d.holder = d.open(d.at, inList, withMessage)
	return true
}

// inMessage is fail with the index of the message in its detail.
func (d *document) inMessage(reason Code, at int) {
	d.fail(reason, at, "message "+strconv.Itoa(len(d.msgs)-1))
}

// wrong refuses a value for its type.
func (d *document) wrong(detail string) {
	d.fail(WrongType, d.at, "message "+strconv.Itoa(len(d.msgs)-1)+", "+detail)
}
