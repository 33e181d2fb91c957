package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// Request is one chat completion request as the upstream reads it.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []byte // JSON of tools and functions as sent; nil when there are none
	Stream       bool
	IncludeUsage bool // stream_options.include_usage
	MaxTokens    int  // output asked for: max_completion_tokens, else max_tokens; 0 when absent

	MessageTokens int // what the messages cost with the upstream's own count
	ToolTokens    int // what tools and functions cost

	Body   []byte      // as it arrived
	Header http.Header // nil when the request came through Check or Read
}

// PromptTokens is what the model has to read.
func (r *Request) PromptTokens() int { return r.MessageTokens + r.ToolTokens }

// What one request may hold.
const (
	maxMessages = 2048 // Azure; letta-ai/letta's tests quote the same sentence
	maxCalls    = 128  // openai/openai-dotnet#317
)

type object map[string]json.RawMessage

// decode reads a body and checks every rule about presence, type and size of fields.
// Pairs, order and tokens are checked afterwards, on the result.
func decode(body []byte) (*Request, *Refusal) {
	top, r := decodeTop(body)
	if r != nil {
		return nil, r
	}
	req := &Request{Body: body}
	if r := req.settings(top); r != nil {
		return nil, r
	}
	raws, r := messageList(top["messages"])
	if r != nil {
		return nil, r
	}
	req.Messages = make([]Message, len(raws))
	for i, raw := range raws {
		m, r := decodeMessage(i, raw)
		if r != nil {
			return nil, r
		}
		req.Messages[i] = m
	}
	return req, nil
}

func decodeTop(body []byte) (object, *Refusal) {
	var top object
	err := json.Unmarshal(body, &top)
	if err == nil && top != nil {
		return top, nil
	}
	return nil, refuse(KindJSON, "", "", "We could not parse the JSON body of your request. "+
		"(HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, "+
		"but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us "+
		"through our help center at help.openai.com.)")
}

// settings reads everything beside the messages that the answer depends on.
func (req *Request) settings(top object) *Refusal {
	model, ok := top["model"]
	if !ok {
		return refuse(KindShape, "", "", "you must provide a model parameter")
	}
	if json.Unmarshal(model, &req.Model) != nil || typeOf(model) != "a string" {
		return wrongType("model", "a string", model)
	}
	if v, ok := given(top, "stream"); ok && json.Unmarshal(v, &req.Stream) != nil {
		return wrongType("stream", "a boolean", v)
	}
	if v, ok := given(top, "stream_options"); ok {
		var o struct {
			IncludeUsage bool `json:"include_usage"`
		}
		if json.Unmarshal(v, &o) != nil {
			return wrongType("stream_options", "an object", v)
		}
		req.IncludeUsage = o.IncludeUsage
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // the later one wins
		v, ok := given(top, name)
		if !ok {
			continue
		}
		if json.Unmarshal(v, &req.MaxTokens) != nil {
			return wrongType(name, "an integer", v)
		}
		if req.MaxTokens < 1 {
			return refuse(KindShape, name, "integer_below_min_value",
				"Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", name, req.MaxTokens)
		}
	}
	for _, name := range []string{"tools", "functions"} {
		v, ok := given(top, name)
		if !ok {
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return wrongType(name, "an array of objects", v)
		}
		if len(list) == 0 {
			return emptyArray(name)
		}
		if len(list) > maxCalls {
			return longArray(name, maxCalls, len(list))
		}
		req.Tools = append(req.Tools, v...)
	}
	return nil
}

// given says whether a field is there and not null.
func given(o object, name string) (json.RawMessage, bool) {
	v, ok := o[name]
	return v, ok && !bytes.Equal(v, null)
}

var null = []byte("null")

func messageList(v json.RawMessage) ([]json.RawMessage, *Refusal) {
	if v == nil {
		return nil, missing("messages")
	}
	var list []json.RawMessage
	if typeOf(v) != "an array" || json.Unmarshal(v, &list) != nil {
		return nil, wrongType("messages", "an array of objects", v)
	}
	if len(list) == 0 {
		return nil, emptyArray("messages")
	}
	if len(list) > maxMessages {
		return nil, refuse(KindShape, "messages", "",
			"'$.messages' is too long. Maximum length is %d, but got %d items", maxMessages, len(list))
	}
	return list, nil
}

// at names a field of a message in the style of OpenAI's schema check.
func at(i int, field string) string { return fmt.Sprintf("messages[%d]%s", i, field) }

// dotted names it in the style of the checks that run after the schema.
func dotted(i int, field string) string { return fmt.Sprintf("messages.[%d]%s", i, field) }
