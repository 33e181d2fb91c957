package strict

import (
	"encoding/json"
	"net/http"
)

// Shape is a set of rules about the order of roles. The zero value takes roles
// in any order, as OpenAI does.
type Shape string

// Alternating takes what the strict chat templates take (Mistral, Devstral,
// Qwen 3.5): at most one system message, first; then user and assistant in turn,
// where assistant messages with calls and tool results do not count; no user
// message directly after a tool result; user or tool last.
const Alternating Shape = "alternating"

// alternating checks the order of roles.
func alternating(req *Request) *Refusal {
	turns := 0 // user messages and plain answers so far: users have even places
	for i, m := range req.Messages {
		switch m.Role {
		case "system":
			if i > 0 { // Qwen 3.5; ggml-org/llama.cpp#20733
				return templateError("System message must be at the beginning.")
			}
		case "developer", "function": // opencode#5034 quotes the sentence for system
			return templateError("Only user, assistant and tool roles are supported, got " + m.Role)
		case "user", "assistant":
			if m.Role == "user" && i > 0 && req.Messages[i-1].Role == "tool" { // BerriAI/litellm#17761, hosted Mistral
				return badOrder("Unexpected role 'user' after role 'tool'")
			}
			calling := m.Calls != nil || m.Function != nil
			if calling && turns == 0 || !calling && (m.Role == "user") != (turns%2 == 0) { // ggml-org/llama.cpp#19851, Devstral
				return templateError("After the optional system message, conversation roles must alternate user and assistant roles " +
					"except for tool calls and results.")
			}
			if !calling {
				turns++
			}
		}
	}
	last := req.Messages[len(req.Messages)-1].Role
	if last == "user" || last == "tool" || last == "assistant" && continues(req.Body) {
		return nil
	}
	return badOrder("Expected last role User or Tool (or Assistant with prefix or continue_final_message set to True) for serving but got " + last)
}

// continues reports whether a request asks for more of its last message.
func continues(body []byte) bool {
	var marks struct {
		Continue bool `json:"continue_final_message"`
		Messages []struct{ Prefix bool }
	}
	_ = json.Unmarshal(body, &marks) // what could be read counts
	n := len(marks.Messages)
	return marks.Continue || n > 0 && marks.Messages[n-1].Prefix
}

// templateError returns the error of llama.cpp for a prompt that its chat
// template refuses.
func templateError(sentence string) *Refusal {
	return &Refusal{Kind: KindOrder, Status: http.StatusInternalServerError, Message: "Jinja Exception: " + sentence, Type: "server_error"}
}

// badOrder returns Mistral's error.
func badOrder(sentence string) *Refusal {
	return &Refusal{Kind: KindOrder, Status: http.StatusBadRequest, Message: sentence, Type: "invalid_request_message_order", Code: "3230"}
}
