package survival

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"laconic/demo/strict"
)

// form is how an agent writes the result of a tool into its message.
type form string

const (
	plainText form = "plain"
	inJSON    form = "JSON"
	inParts   form = "parts"
	numbered  form = "numbered" // files alone
	wrapped   form = "wrapped"
)

var forms = []form{plainText, inJSON, inParts, numbered, wrapped}

// content is the result of a call in its form, and the text that the upstream
// reads there. Agents differ in how they number and wrap: style chooses.
func (f form) content(c call, result string, style uint64) (content any, text string) {
	isFile := c.Function.Name == "read_file"
	switch f {
	case inJSON:
		text = string(marshal(struct {
			Output   string  `json:"output"`
			ExitCode int     `json:"exit_code"`
			Duration float64 `json:"duration_seconds"`
		}{result, 0, 0.4}))
		return text, text
	case numbered:
		if isFile {
			result = withNumbers(result, style)
		}
	case wrapped:
		var arguments struct{ Path string }
		_ = json.Unmarshal([]byte(c.Function.Arguments), &arguments)
		switch {
		case isFile && style%2 == 0:
			result = "<path>" + arguments.Path + "</path>\n<type>file</type>\n<content>\n" + withNumbers(result, 1) + "\n(End of file)\n</content>"
		case isFile:
			result = "<file name=\"" + arguments.Path + "\">\n" + result + "</file>"
		case style%2 == 0:
			result = "<output>\n" + result + "</output>"
		default:
			result = "Command: " + c.Function.Name + "\nOutput: " + result + "\nExit Code: 0"
		}
	case inParts:
		type part struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		head, tail := result, ""
		if at := strings.IndexByte(result[len(result)/2:], '\n') + len(result)/2; len(result) > 2000 {
			head, tail = result[:at], result[at+1:]
		}
		if tail == "" {
			return []part{{"text", head}}, head
		}
		return []part{{"text", head}, {"text", tail}}, head + "\n" + tail
	}
	return result, result
}

// withNumbers puts its number before each line of a file, as one of three agents
// does.
func withNumbers(text string, style uint64) string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, []string{"%6d\t%s", "%d: %s", "%5d→%s"}[style%3], n, l)
	}
	return b.String()
}

// marshal is JSON as most clients write it, with < and > as they are.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: a message is always JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// agent is a client as a loop: it sends its history, takes the call of the
// answer, and adds call and result.
type agent struct {
	url     string // of the proxy, without /v1
	model   string
	form    form
	style   uint64 // of the form
	answer  int    // tokens of answer that are asked for; 0: none are named
	header  http.Header
	perform func(call) string      // returns the result of a call
	tell    func([]strict.Message) // is told what is about to be sent; nil: nobody

	bodies [][]byte         // the history as JSON
	read   []strict.Message // the same as the upstream reads it

	thinking json.RawMessage // thinking_blocks of the last answer, which go back with it
}

const instructions = "You are a coding agent. You work in the folder that the user names, with the tools that you have, one small step after the other. " +
	"Say in a sentence what you are about to do, then call the tool. Paths are relative to the folder. Read a file before you edit it. " +
	"When you are done, answer without a call and report what was asked for."

// agentTools are the tools that it offers.
var agentTools = marshal([]any{
	declared("run_command", "Runs a shell command in the folder and returns what it printed.", "command"),
	declared("read_file", "Returns the text of a file.", "path"),
	declared("write_file", "Writes a file; the folders above it are made.", "path", "content"),
	declared("edit_file", "Puts new_string in place of old_string, which must stand in the file exactly once.", "path", "old_string", "new_string"),
})

func declared(name, description string, parameters ...string) any {
	properties := map[string]any{}
	for _, p := range parameters {
		properties[p] = map[string]string{"type": "string", "description": "The " + strings.ReplaceAll(p, "_", " ") + "."}
	}
	return map[string]any{"type": "function", "function": map[string]any{
		"name": name, "description": description,
		"parameters": map[string]any{"type": "object", "properties": properties, "required": parameters, "additionalProperties": false},
	}}
}

func (a *agent) add(message map[string]any, read strict.Message) {
	a.bodies, a.read = append(a.bodies, marshal(message)), append(a.read, read)
}

// says adds a message of text alone.
func (a *agent) says(role, text string) {
	a.add(map[string]any{"role": role, "content": text}, strict.Message{Role: role, Text: text})
}

// session goes on until an answer has no calls, and returns its text. A status
// other than 200 ended it before.
func (a *agent) session(most int) (text string, status int, err error) {
	for range most {
		if a.tell != nil {
			a.tell(a.read)
		}
		text, calls, status, err := a.ask()
		if err != nil || status != http.StatusOK || len(calls) == 0 {
			return text, status, err
		}
		a.answered(text, calls)
	}
	return "", 0, fmt.Errorf("no end after %d answers", most)
}

// answered adds an answer and the results of its calls.
func (a *agent) answered(text string, calls []call) {
	message := map[string]any{"role": "assistant", "content": nil}
	if text != "" {
		message["content"] = text
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	if a.thinking != nil {
		message["thinking_blocks"] = a.thinking
	}
	a.add(message, strict.Message{Role: "assistant", Text: text, Calls: flat(calls)})
	for _, c := range calls {
		content, read := a.form.content(c, a.perform(c), a.style)
		a.add(map[string]any{"role": "tool", "tool_call_id": c.ID, "content": content}, strict.Message{Role: "tool", Text: read, ToolCallID: c.ID})
	}
}

// call is a tool call as the API writes it.
type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func flat(calls []call) []strict.Call {
	var out []strict.Call
	for _, c := range calls {
		out = append(out, strict.Call{ID: c.ID, Type: c.Type, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}

// body is the request that is sent next.
func (a *agent) body() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%q,"messages":[%s],"tools":%s`, a.model, bytes.Join(a.bodies, []byte(",")), agentTools)
	if a.answer > 0 {
		fmt.Fprintf(&b, `,"max_tokens":%d`, a.answer)
	}
	b.WriteString("}")
	return b.Bytes()
}

// ask sends the history and reads the answer.
func (a *agent) ask() (text string, calls []call, status int, err error) {
	req, err := http.NewRequest(http.MethodPost, a.url+"/v1/chat/completions", bytes.NewReader(a.body()))
	if err != nil {
		return "", nil, 0, err
	}
	if a.header != nil {
		req.Header = a.header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-"+a.model)
	res, err := client.Do(req)
	if err != nil {
		return "", nil, 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return "", nil, res.StatusCode, err
	}
	var answer struct {
		Choices []struct {
			Message struct {
				Content   string          `json:"content"`
				ToolCalls []call          `json:"tool_calls"`
				Thinking  json.RawMessage `json:"thinking_blocks"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Choices) != 1 {
		return "", nil, 0, fmt.Errorf("no answer: %v: %.200s", err, body)
	}
	a.thinking = answer.Choices[0].Message.Thinking
	return answer.Choices[0].Message.Content, answer.Choices[0].Message.ToolCalls, res.StatusCode, nil
}
