package strict

import (
	"encoding/json"
	"net/http"
)

// Shape is a set of rules about the order of roles.
type Shape string

const (
	// OpenAI takes roles in any order, system messages in mid-list included.
	OpenAI Shape = "openai"

	// Alternating takes what the strict chat templates take (Mistral, Devstral, Qwen 3.5): at most one system
	// message, first; then user and assistant in turn, where assistant messages with calls and tool results
	// do not count; no user message directly after a tool result; user or tool last.
	// Template errors are status 500 in llama.cpp's envelope, as that server sends them.
	Alternating Shape = "alternating"
)

// alternating checks the order of roles.
func alternating(req *Request) *Refusal {
	turns := 0 // user messages and plain answers so far: users stand at even places
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
				return &Refusal{
					Kind: KindOrder, Status: http.StatusBadRequest, dialect: mistral,
					Message: "Unexpected role 'user' after role 'tool'", Type: "invalid_request_message_order", Code: "3230",
				}
			}
			if m.Calls != nil || m.Function != nil {
				if turns == 0 {
					return mustAlternate()
				}
				continue
			}
			if (m.Role == "user") != (turns%2 == 0) {
				return mustAlternate()
			}
			turns++
		}
	}
	return lastRole(req)
}

// ggml-org/llama.cpp#19851, the template of Devstral
func mustAlternate() *Refusal {
	return templateError("After the optional system message, conversation roles must alternate user and assistant roles " +
		"except for tool calls and results.")
}

func templateError(sentence string) *Refusal {
	return &Refusal{
		Kind: KindOrder, Status: http.StatusInternalServerError, dialect: llamaCPP,
		Message: "Jinja Exception: " + sentence, Type: "server_error",
	}
}

// lastRole is mistral-common's rule for serving: the model is to answer somebody.
func lastRole(req *Request) *Refusal {
	last := req.Messages[len(req.Messages)-1].Role
	if last == "user" || last == "tool" {
		return nil
	}
	if last == "assistant" {
		var marks struct {
			Continue bool `json:"continue_final_message"`
			Messages []struct {
				Prefix bool `json:"prefix"`
			} `json:"messages"`
		}
		// A wrong type beside these fields is no concern of this rule; what could be read counts.
		_ = json.Unmarshal(req.Body, &marks)
		if marks.Continue || len(marks.Messages) == len(req.Messages) && marks.Messages[len(marks.Messages)-1].Prefix {
			return nil
		}
	}
	return &Refusal{
		Kind: KindOrder, Status: http.StatusBadRequest, dialect: mistral, Type: "invalid_request_message_order",
		Message: "Expected last role User or Tool (or Assistant with prefix or continue_final_message set to True) for serving but got " + last,
	}
}
