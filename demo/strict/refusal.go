package strict

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Kind is a family of rules.
type Kind string

const (
	KindJSON     Kind = "json"     // the body is not one JSON object
	KindField    Kind = "field"    // a field is missing, or has the wrong type or size
	KindPairs    Kind = "pairs"    // a tool call without its result, or a result without its call
	KindOverflow Kind = "overflow" // more tokens than the limit
	KindAccess   Kind = "access"   // no such path or method, or a wrong API key
)

// Refusal is an error answer.
type Refusal struct {
	Kind    Kind
	Status  int    // HTTP status
	Message string // the sentence for the user
	Type    string // "invalid_request_error", …
	Param   string // which field; "" is sent as null
	Code    string // for programs; "" is sent as null
}

// Body returns the JSON of the answer, of the messages API or of one of OpenAI's.
func (r *Refusal) Body(anthropic bool) []byte {
	if anthropic {
		return marshal(map[string]any{"type": "error", "error": map[string]string{"type": r.Type, "message": r.Message}})
	}
	e := map[string]any{"message": r.Message, "type": r.Type, "param": nil, "code": nil}
	for key, v := range map[string]string{"param": r.Param, "code": r.Code} {
		if v != "" {
			e[key] = v
		}
	}
	return marshal(map[string]any{"error": e})
}

// refuse returns OpenAI's ordinary 400.
func refuse(k Kind, param, code, format string, args ...any) *Refusal {
	return &Refusal{
		Kind: k, Status: http.StatusBadRequest, Type: "invalid_request_error",
		Param: param, Code: code, Message: fmt.Sprintf(format, args...),
	}
}

// send sends JSON and ignores a client that left.
func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an answer is always JSON: " + err.Error())
	}
	return b
}
