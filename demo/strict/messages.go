package strict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// block is one block of the content of a message, or of a result.
type block struct {
	Type, Text, ID, Name string
	Input, Content       json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Thinking             string
}

// content returns the blocks of a content that may be a string. It is not ok for
// anything else.
func content(raw json.RawMessage) (blocks []block, ok bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}, true
	}
	return blocks, json.Unmarshal(raw, &blocks) == nil
}

// said returns the texts of blocks, and how many are neither text nor a part of the
// rules.
func said(blocks []block) (text string, media int) {
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use", "tool_result", "thinking", "redacted_thinking":
		default:
			media++
		}
	}
	return strings.Join(texts, "\n"), media
}

// readMessages reads a request of the messages API.
func (u *Upstream) readMessages(body []byte) (*Request, *Refusal) {
	var in struct {
		Model     string
		System    json.RawMessage
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		Tools     json.RawMessage
		Messages  []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse(KindJSON, "", "", "The request body is not valid JSON: %v", err)
	}
	req := &Request{Body: body, Model: in.Model, Stream: in.Stream, MaxTokens: in.MaxTokens, Tools: in.Tools}
	switch {
	case in.Model == "":
		return nil, refuse(KindField, "", "", "model: Field required")
	case in.MaxTokens < 1:
		return nil, refuse(KindField, "", "", "max_tokens: Field required")
	case len(in.Messages) == 0:
		return nil, refuse(KindField, "", "", "messages: at least one message is required")
	}
	if in.System != nil {
		blocks, ok := content(in.System)
		if !ok {
			return nil, refuse(KindField, "", "", "system: Input should be a valid string")
		}
		text, _ := said(blocks)
		req.Messages = append(req.Messages, Message{Role: "system", Text: text})
	}
	p := &turns{last: len(in.Messages) - 1, ids: map[string]int{}}
	for i, m := range in.Messages {
		blocks, ok := content(m.Content)
		if !ok {
			return nil, refuse(KindField, "", "", "messages.%d.content: Input should be a valid list", i)
		}
		if r := p.message(i, m.Role, blocks); r != nil {
			return req, r
		}
		req.Messages = append(req.Messages, flat(m.Role, blocks)...)
	}
	if r := p.unanswered(); r != nil {
		return req, r
	}
	if n := strings.Count(string(body), `"cache_control":`) + strings.Count(string(body), `"cache_control" :`); n > 4 {
		return req, refuse(KindField, "", "", "A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	u.count(req)
	return req, cmp.Or(u.messagesOverflow(req), u.o.Rule(req))
}

// flat returns an element of the list as the model reads it: results apart.
func flat(role string, blocks []block) (all []Message) {
	text, media := said(blocks)
	m := Message{Role: role, Text: text, Media: media}
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			inside, _ := content(b.Content)
			text, media := said(inside)
			all = append(all, Message{Role: "tool", Text: text, Media: media, ToolCallID: b.ToolUseID})
		case "tool_use":
			m.Calls = append(m.Calls, Call{b.ID, "function", b.Name, string(b.Input)})
		case "thinking":
			m.Thinking += b.Thinking
		}
	}
	if text != "" || media > 0 || m.Calls != nil || m.Thinking != "" || all == nil {
		all = append(all, m)
	}
	return all
}

// turns checks the order of a list. Messages of one role in a row are one turn.
type turns struct {
	last  int            // index of the last message
	ids   map[string]int // of all calls, with the message of each
	at    int            // the message of the newest answer
	open  []string       // its calls without a result, in order
	mixed bool           // the turn that answers it has something else by now
}

var legalID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (p *turns) message(i int, role string, blocks []block) *Refusal {
	switch {
	case role != "user" && role != "assistant" && role != "system":
		return refuse(KindField, "", "", "messages.%d.role: Input should be 'user' or 'assistant'", i)
	case i == 0 && role == "assistant":
		return refuse(KindField, "", "", `messages: first message must use the "user" role`)
	case len(blocks) == 0 && (i < p.last || role != "assistant"):
		return refuse(KindField, "", "", "messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
	}
	if role != "user" {
		if r := p.unanswered(); r != nil {
			return r
		}
		if role == "assistant" {
			p.open, p.at, p.mixed = nil, i, false
		}
	}
	for n, b := range blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, n)
		switch {
		case b.Type == "":
			return refuse(KindField, "", "", "%s.type: Field required", at)
		case b.Type == "tool_use" && role == "assistant":
			if r := p.call(at, b); r != nil {
				return r
			}
		case b.Type == "tool_result" && role == "user":
			if r := p.result(at, b); r != nil {
				return r
			}
		case b.Type == "tool_use" || b.Type == "tool_result":
			return refuse(KindPairs, "", "", "messages.%d: `%s` blocks can only be in `%s` messages", i, b.Type,
				map[string]string{"tool_use": "assistant", "tool_result": "user"}[b.Type])
		default:
			p.mixed = p.mixed || role != "assistant"
		}
	}
	return nil
}

func (p *turns) call(at string, b block) *Refusal {
	var input map[string]any
	_, again := p.ids[b.ID]
	switch {
	case !legalID.MatchString(b.ID):
		return refuse(KindField, "", "", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	case again:
		return refuse(KindPairs, "", "", "%s: `tool_use` ids must be unique", at)
	case json.Unmarshal(b.Input, &input) != nil || input == nil:
		return refuse(KindField, "", "", "%s.tool_use.input: Input should be a valid dictionary", at)
	}
	p.ids[b.ID] = p.at
	p.open = append(p.open, b.ID)
	return nil
}

func (p *turns) result(at string, b block) *Refusal {
	of, known := p.ids[b.ToolUseID]
	call := slices.Index(p.open, b.ToolUseID)
	switch {
	case !known || of != p.at:
		return refuse(KindPairs, "", "", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a "+
			"corresponding `tool_use` block in the previous message.", at, b.ToolUseID)
	case call < 0:
		return refuse(KindPairs, "", "", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", at, b.ToolUseID)
	case p.mixed:
		return p.unanswered() // what is not a result comes before it
	}
	p.open = slices.Delete(p.open, call, call+1)
	return nil
}

// unanswered refuses an answer with calls that have no result.
func (p *turns) unanswered() *Refusal {
	if len(p.open) == 0 {
		return nil
	}
	return refuse(KindPairs, "", "", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` "+
		"block must have a corresponding `tool_result` block in the next message.", p.at, strings.Join(p.open, ", "))
}

// messagesOverflow refuses a request above the limit, in Anthropic's words.
func (u *Upstream) messagesOverflow(req *Request) *Refusal {
	prompt := req.PromptTokens()
	switch {
	case u.fits(req):
		return nil
	case prompt > u.o.Limit:
		return refuse(KindOverflow, "", "", "prompt is too long: %d tokens > %d maximum", prompt, u.o.Limit)
	}
	return refuse(KindOverflow, "", "", "input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again",
		prompt, req.MaxTokens, u.o.Limit)
}
