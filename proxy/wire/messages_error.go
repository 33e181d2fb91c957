package wire

import (
	"encoding/json"
	"fmt"

	"laconic/compact"
)

// messagesError is the envelope of Anthropic's errors, and the code for programs.
type messagesError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    string `json:"code,omitempty"`
	} `json:"error"`
}

// messagesTypes are Anthropic's types of errors, where they differ from OpenAI's.
var messagesTypes = map[string]string{
	"server_error": "api_error", "insufficient_quota": "billing_error", "requests": "rate_limit_error", "tokens": "rate_limit_error",
}

func (*messages) Error(e Error) []byte {
	v := messagesError{Type: "error"}
	v.Error.Type, v.Error.Message, v.Error.Code = e.Type, e.Message, e.Code
	if is, ok := messagesTypes[e.Type]; ok {
		v.Error.Type = is
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an error body is always JSON: " + err.Error())
	}
	return append(b, '\n')
}

// TooLong uses Anthropic's own sentence, from which agents compact by themselves. N is
// what the client sent.
func (*messages) TooLong(r *compact.Report, most, _ int) Error {
	if r.After <= r.Budget {
		return Error{Param: "messages", Code: "array_above_max_length", Message: fmt.Sprintf(
			"messages: List should have at most %d items after validation, not %d", most, r.MessagesBefore)}
	}
	return Error{Param: "messages", Code: "context_length_exceeded", Message: fmt.Sprintf(
		"prompt is too long: %d tokens > %d maximum", r.Before, r.Budget)}
}
