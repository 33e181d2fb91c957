package wire

import (
	"bytes"
	"math"
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

var chatKeys = [][]string{requestKeys, messageKeys, callKeys, partKeys, pairKeys, mediaKeys}

// decoder reads one body of the chat API.
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

// Decode reads a body in one pass.
func (chat) Decode(body []byte) (*Request, error) {
	if uint64(len(body)) > math.MaxUint32 {
		return nil, &PassError{Reason: TooLarge, Offset: math.MaxUint32}
	}
	d := decoder{document: newDocument(body, chatKeys, chatDialect{})}
	if !d.request() {
		err := d.err
		d.release()
		return nil, err
	}
	d.attach()
	d.Wire = Chat.Name()
	if last := &d.msgs[len(d.msgs)-1]; last.Role == compact.Assistant {
		last.Open = d.going || d.opened
	}
	d.NoCalls = d.NoCalls || emptyList(d.Tools) && emptyList(d.Functions)
	return &d.Request, nil
}

// opens reports whether the body begins as an object, and goes there.
func (d *document) opens() bool {
	d.space()
	switch {
	case d.at == len(d.src):
		return d.fail(EmptyBody, d.at, "")
	case bytes.HasPrefix(d.src, []byte("\ufeff")):
		return d.fail(NotObject, d.at, "it begins with a byte order mark")
	case d.peek() != '{':
		return d.fail(NotObject, d.at, "")
	}
	return true
}

// ends reports whether the body ends with its object, in which the list was found.
func (d *document) ends(found bool) bool {
	if d.space(); d.at < len(d.src) {
		return d.fail(TrailingData, d.at, "")
	}
	return found || d.fail(MessagesMissing, 0, "")
}

func (d *decoder) request() bool {
	if !d.opens() {
		return false
	}
	found := false
	var nothing *PassError // messages says nothing
	var o object
	for d.key(&o) {
		if !d.unambiguous(&o, requestKeys) {
			return false
		}
		if o.name == "messages" {
			if found = true; !d.messages(d.message) && !d.nothing(&nothing) {
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
		case "max_tokens", "max_completion_tokens":
			d.MaxTokens = max(d.MaxTokens, d.wholeNumber(v))
		case "tools":
			d.Tools = d.unlessNull(v)
		case "functions":
			d.Functions = d.unlessNull(v)
		case "response_format":
			d.Format = d.unlessNull(v)
		case "tool_choice", "function_call":
			d.NoCalls = d.NoCalls || d.str(v) == "none"
		case "continue_final_message":
			d.going = d.going || v.kind == 't'
		case "add_generation_prompt":
			d.going = d.going || v.kind == 'f'
		}
	}
	if d.err != nil || !d.ends(found) {
		return false
	}
	d.err = nothing
	return nothing == nil
}

func startsValue(c byte) bool {
	return c == '{' || c == '[' || c == '"' || c == '-' || c == 't' || c == 'f' || c == 'n' || isDigit(c)
}

// unlessNull returns the raw value, nil for null.
func (d *document) unlessNull(v value) []byte {
	if v.kind == 'n' {
		return nil
	}
	return d.raw(v.span)
}

// emptyList reports whether a raw value is absent or a list of nothing.
func emptyList(raw []byte) bool {
	return len(raw) == 0 || raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

// wholeNumber reads a number of tokens, at most math.MaxInt32; 0 for whatever
// is not a positive whole number.
func (s *scanner) wholeNumber(v value) int {
	if !isDigit(v.kind) {
		return 0
	}
	f, err := strconv.ParseFloat(s.view(int(v.start), int(v.end)), 64)
	if err != nil || f != math.Trunc(f) {
		return 0
	}
	return int(min(f, math.MaxInt32))
}

// messages reads the list, each element of it by one.
func (d *document) messages(one func() bool) bool {
	switch c := d.peek(); {
	case c == '[':
	case c == 'n' && d.literal("null"):
		return d.fail(MessagesNull, d.at-len("null"), "")
	case startsValue(c):
		return d.fail(MessagesNotArray, d.at, "")
	default:
		return d.fail(InvalidJSON, d.at, "")
	}
	start := d.at
	var a array
	for d.element(&a) {
		if !one() {
			return false
		}
	}
	if d.err != nil {
		return false
	}
	if len(d.msgs) == 0 {
		return d.fail(MessagesEmpty, start, "")
	}
	return true
}

// nothing reports whether the list failed because it says nothing, and keeps that as
// the reason: what makes the body ambiguous is said first.
func (d *document) nothing(why **PassError) bool {
	if d.err.Reason != MessagesNull && d.err.Reason != MessagesEmpty {
		return false
	}
	*why, d.err = d.err, nil
	return true
}

// inMessage is fail with the index of the message in its detail.
func (d *decoder) inMessage(reason Code, at int, detail string) bool {
	where := "message " + strconv.Itoa(len(d.msgs)-1)
	if detail != "" {
		where += ", " + detail
	}
	return d.fail(reason, at, where)
}

// wrong refuses a value for its type; what is no value at all is no JSON.
func (d *decoder) wrong(detail string) bool {
	if !startsValue(d.peek()) {
		return d.fail(InvalidJSON, d.at, "")
	}
	return d.inMessage(WrongType, d.at, detail)
}
