package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

// maxElements is how many messages, parts and calls a body may have together.
// Decoded, each takes about 200 bytes of memory however few it has in the
// body, so this bounds what a small body can cost to 50 MB. OpenAI takes 2,048
// messages, Anthropic 100,000.
const maxElements = 250_000

// Request is one decoded body.
type Request struct {
	// Body is the client's bytes. They must not change any more: texts of the
	// conversation, and the raw fields below, are views into them.
	Body []byte
	// Model is the model's name; "" when missing or not a string. It is a copy
	// and may outlive the body.
	Model string
	// Stream reports whether the client asked for a stream.
	Stream bool
	// Conversation is what was read. Its messages must not be written to,
	// because Encode compares with them. Fixed is 0: who has a counter fills
	// it.
	Conversation compact.Conversation
	// MaxTokens is the longest answer that the client asked for, in tokens:
	// the larger of max_completion_tokens and max_tokens, at most
	// math.MaxInt32; 0 when neither is given as a whole number.
	MaxTokens int
	// Beside is the raw JSON of tools, functions and the format of the answer;
	// null is as good as absent.
	compact.Beside
	// NoCalls reports that the model may call nothing: there are no tools and no
	// functions, or tool_choice or function_call is "none".
	NoCalls bool
	// Compaction reports that the request asks for a summary of its own history,
	// with its last message.
	Compaction bool
	// Trigger reports that the last item of its list asks for that, and that the answer
	// is an item that stands for the history.
	Trigger bool

	document *document
}

// ToolNames returns the names of the tools and functions, in their order; "" for
// none.
func (r *Request) ToolNames() string {
	return gjson.GetBytes(r.Tools, "#.function.name").Raw + gjson.GetBytes(r.Tools, "#.name").Raw + gjson.GetBytes(r.Functions, "#.name").Raw
}

// Sum sets the Sum of each message, which of makes from its bytes.
func (r *Request) Sum(of func(raw string) compact.Sum) {
	for i := range r.Conversation.Messages {
		m, raw := &r.Conversation.Messages[i], r.document.source(i)
		if r.document.same != nil {
			raw = r.document.same(m, raw)
		}
		m.Sum = of(raw)
	}
}

// Encode returns the body with the edited messages in the place of the client's.
// Messages refer to the client's by their Origin; those that are not marked Edited keep
// their bytes, and so do the bytes between neighbours. In the others only the values
// that changed are replaced. Where nothing was edited the result is Body itself, else a
// new slice.
//
// An edit that cannot be written so (another role, shape or order of things
// within a message) is an error, and so is an empty list; the caller then
// sends Body. Content that is null or absent may become a string. Encode
// changes nothing and may be called again.
func (r *Request) Encode(edited []compact.Message) ([]byte, error) { return r.document.encode(edited) }

// Model returns the model that a JSON body names, whatever else the body holds;
// "" where it names none. It reads what Decode refuses as long as every reader
// finds the same name in it: half of a surrogate pair in a message says nothing
// of the model. The error is a *PassError: the body is no JSON object, or names
// the model more than once, or in a spelling that only some readers take for it.
func Model(body []byte) (string, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return "", nil
	}
	if !json.Valid(body) {
		return "", &PassError{Reason: InvalidJSON}
	}
	root := gjson.Parse(lent(body))
	if !root.IsObject() {
		return "", &PassError{Reason: NotObject}
	}
	name, named, odd := "", 0, false
	root.ForEach(func(key, value gjson.Result) bool {
		if k := key.String(); strings.EqualFold(k, "model") {
			named++
			odd = odd || k != "model"
			if value.Type == gjson.String {
				name = strings.Clone(value.String())
			}
		}
		return true
	})
	switch {
	case named > 1:
		return "", &PassError{Reason: DuplicateKey, Detail: "model"}
	case odd:
		return "", &PassError{Reason: AmbiguousKey, Detail: "model"}
	}
	return name, nil
}
