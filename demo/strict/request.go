package strict

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is one chat completion request as the upstream reads it.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []byte // JSON of tools and functions as sent; nil if there are none
	Stream       bool
	IncludeUsage bool // stream_options.include_usage
	MaxTokens    int  // output asked for; 0 if not said

	MessageTokens int // cost of the messages
	ToolTokens    int // cost of tools and functions

	Items   bool // it is of the API of responses, and a message is an item
	reasons bool // the answer has reasoning

	Body   []byte      // as it arrived
	Header http.Header // nil if the request came through Read
}

// PromptTokens returns the cost of the whole prompt.
func (r *Request) PromptTokens() int { return r.MessageTokens + r.ToolTokens }

// Message is one message as the model reads it.
type Message struct {
	Role       string
	Name       string
	Text       string // content; the text parts of an array joined by newlines
	Media      int    // parts that are neither text nor refusal
	Calls      []Call // tool_calls
	Function   *Call  // legacy function_call; ID and Type are empty
	ToolCallID string // of the result; of an item, also of a call
	ItemID     string
	Thinking   string // of thinking_blocks
	Tokens     int    // what it costs
}

// Call is one tool call.
type Call struct {
	ID        string
	Type      string // "function" or "custom"; "" in a Reply means function
	Name      string
	Arguments string // the JSON text; the input of a custom tool
}

// Same reports whether the model reads the same in both, except for thinking.
func (m Message) Same(o Message) bool { return slices.Equal(m.fields(), o.fields()) }

// fields returns what the model reads of a message, without thinking.
func (m Message) fields() []string {
	f := []string{m.Role, m.Name, m.Text, m.ToolCallID, fmt.Sprint(m.Media)}
	for _, c := range m.Calls {
		f = append(f, c.ID, c.Type, c.Name, c.Arguments)
	}
	if m.Function != nil {
		f = append(f, m.Function.Name, m.Function.Arguments)
	}
	return f
}

// object is a JSON object being read.
type object struct {
	fields map[string]json.RawMessage
	at     string    // path in the body, for errors
	fault  **Refusal // the first fault in the body
}

// read decodes a field and reports whether it is present and not null.
func (o object) read(key string, to any) bool {
	v := o.fields[key]
	if v == nil || string(v) == "null" {
		return false
	}
	if json.Unmarshal(v, to) != nil {
		o.refuse(key, "invalid_type", "Invalid type for '%s%s'.", o.at, key)
	}
	return true
}

func (o object) refuse(key, code, format string, args ...any) {
	if *o.fault == nil {
		*o.fault = refuse(KindField, o.at+key, code, format, args...)
	}
}

// empty refuses an empty array (home-assistant/core#118577, openai/openai-python#2061).
func (o object) empty(key string) {
	o.refuse(key, "empty_array",
		"Invalid '%s%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", o.at, key)
}

// begin reads what the requests of OpenAI's APIs have alike; most are the names of what
// bounds the answer, and noModel refuses a request that names no model.
func begin(body []byte, noModel *Refusal, most ...string) (*Request, object, *Refusal) {
	req, o := &Request{Body: body}, object{fault: new(*Refusal)}
	if json.Unmarshal(body, &o.fields) != nil || o.fields == nil {
		return nil, o, refuse(KindJSON, "", "", "We could not parse the JSON body of your request.")
	}
	if !o.read("model", &req.Model) {
		return nil, o, noModel
	}
	o.read("stream", &req.Stream)
	for _, key := range most {
		o.read(key, &req.MaxTokens)
	}
	return req, o, nil
}

// readChat reads a request of the API of chat completions.
func (u *Upstream) readChat(body []byte) (*Request, *Refusal) {
	req, o, r := begin(body, refuse(KindField, "", "", "you must provide a model parameter"), "max_tokens", "max_completion_tokens")
	if r != nil {
		return nil, r
	}
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	o.read("stream_options", &options)
	req.IncludeUsage = options.IncludeUsage
	for _, key := range []string{"tools", "functions"} {
		var list []json.RawMessage
		if o.read(key, &list) {
			req.Tools = append(req.Tools, o.fields[key]...)
		}
	}
	var messages []map[string]json.RawMessage
	if !o.read("messages", &messages) {
		o.refuse("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
	}
	if len(messages) == 0 {
		o.empty("messages")
	}
	if n := len(messages); n > 2048 { // Azure's words, which letta-ai/letta quotes
		return nil, refuse(KindField, "messages", "", "'$.messages' is too long. Maximum length is 2048, but got %d items", n)
	}
	for i, fields := range messages {
		req.Messages = append(req.Messages, object{fields, fmt.Sprintf("messages[%d].", i), o.fault}.message())
	}
	return u.judged(req, *o.fault, pairs)
}

// message reads one message.
func (o object) message() (m Message) {
	o.read("role", &m.Role)
	o.read("name", &m.Name)
	var any json.RawMessage
	excused := false // whether the content may be null
	switch m.Role {
	case "system", "developer", "user":
	case "assistant":
		m.Calls, m.Function, m.Thinking = o.toolCalls(), o.functionCall(), o.thinking()
		excused = m.Calls != nil || m.Function != nil || o.read("refusal", &any) || o.read("audio", &any)
	case "tool":
		if !o.read("tool_call_id", &m.ToolCallID) && *o.fault == nil { // langchain-ai/langchain#22600
			*o.fault = refuse(KindPairs, o.at+"tool_call_id", "",
				"Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'")
		}
	case "function":
		if m.Name == "" {
			o.refuse("name", "missing_required_parameter", "Missing required parameter: '%sname'.", o.at)
		}
	default:
		o.refuse("role", "invalid_value",
			"Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
	}
	if !o.read("content", &any) {
		if !excused { // run-llama/llama_index#17555
			o.refuse("content", "", "Invalid value for 'content': expected a string, got null.")
		}
		return m
	}
	if json.Unmarshal(any, &m.Text) != nil {
		m.Text, m.Media = o.parts()
	}
	return m
}

// parts reads content that is an array.
func (o object) parts() (text string, media int) {
	var parts []struct{ Type, Text, Refusal *string }
	if o.read("content", &parts); len(parts) == 0 {
		o.empty("content")
	}
	var texts []string
	for n, p := range parts {
		kind := p.Type
		if kind != nil && *kind == "refusal" {
			p.Text = p.Refusal
		}
		switch {
		case kind == nil, (*kind == "text" || *kind == "refusal") && p.Text == nil:
			o.refuse("content", "missing_required_parameter", "Missing required parameter: a part of '%scontent[%d]'.", o.at, n)
		case *kind == "text", *kind == "refusal":
			texts = append(texts, *p.Text)
		default: // images, audio, files and kinds to come
			media++
		}
	}
	return strings.Join(texts, "\n"), media
}

func (o object) toolCalls() (calls []Call) {
	if o.fields["tool_calls"] == nil {
		return nil
	}
	var list []struct {
		ID, Type         string
		Function, Custom *struct{ Name, Arguments, Input string }
	}
	if o.read("tool_calls", &list); len(list) == 0 {
		o.empty("tool_calls")
	}
	for n, c := range list {
		at := fmt.Sprintf("tool_calls[%d].", n)
		switch {
		case c.ID == "":
			o.refuse(at+"id", "empty_string",
				"Invalid '%s%sid': empty string. Expected a string with minimum length 1, but got an empty string instead.", o.at, at)
		case c.Type == "function" && c.Function != nil && c.Function.Name != "":
			calls = append(calls, Call{c.ID, c.Type, c.Function.Name, c.Function.Arguments})
		case c.Type == "custom" && c.Custom != nil && c.Custom.Name != "":
			calls = append(calls, Call{c.ID, c.Type, c.Custom.Name, c.Custom.Input})
		default:
			o.refuse(at+"type", "invalid_value", "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", c.Type)
		}
	}
	return calls
}

// Thought is thinking as LiteLLM sends it, and a block of the messages API.
type Thought struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// thinking returns the text of the thinking of a message.
func (o object) thinking() (text string) {
	var blocks []Thought
	_ = json.Unmarshal(o.fields["thinking_blocks"], &blocks) // OpenAI does not know the field
	for _, b := range blocks {
		text += b.Thinking
	}
	return text
}

// functionCall reads the legacy form. Null is allowed: in OpenAI's schema it is
// nullable, unlike tool_calls.
func (o object) functionCall() *Call {
	var c struct{ Name, Arguments string }
	if !o.read("function_call", &c) {
		return nil
	}
	return &Call{Name: c.Name, Arguments: c.Arguments}
}
