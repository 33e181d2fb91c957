package strict

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Kind says which family of rules a refusal belongs to.
type Kind string

const (
	KindJSON     Kind = "json"     // the body is not one JSON object
	KindShape    Kind = "shape"    // a field is missing, has the wrong type or the wrong size
	KindPairs    Kind = "pairs"    // a tool call without its result, or a result without its call
	KindOrder    Kind = "order"    // the order of roles; only under Alternating
	KindOverflow Kind = "overflow" // more tokens than the limit
	KindRoute    Kind = "route"    // no such path or method
	KindKey      Kind = "key"      // missing or wrong API key
)

// Refusal is the error answer to one request.
// It is an error, so that callers may return it.
type Refusal struct {
	Kind    Kind
	Status  int    // HTTP status
	Message string // the sentence for the user
	Type    string // "invalid_request_error", …
	Param   string // which field; "" is sent as null
	Code    string // for programs; "" is sent as null

	dialect dialect
}

// dialect is the envelope in which an error is sent.
type dialect int

const (
	openAI   dialect = iota // {"error":{"message","type","param","code"}}
	llamaCPP                // {"error":{"code":500,"message","type"}}
	mistral                 // {"object":"error","message","type","param","code"}
)

// Error is the sentence alone.
func (r *Refusal) Error() string { return r.Message }

// Body is the JSON that is sent.
func (r *Refusal) Body() []byte {
	var v any
	switch r.dialect {
	case llamaCPP:
		v = map[string]any{"error": struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Type    string `json:"type"`
		}{r.Status, r.Message, r.Type}}
	case mistral:
		v = struct {
			Object  string  `json:"object"`
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		}{"error", r.Message, r.Type, orNull(r.Param), orNull(r.Code)}
	default:
		v = map[string]any{"error": struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		}{r.Message, r.Type, orNull(r.Param), orNull(r.Code)}}
	}
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("BUG: an error body is always JSON: " + err.Error())
	}
	return append(body, '\n')
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// write sends the refusal.
func (r *Refusal) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body()) // a client that left needs no answer
}

// refuse makes OpenAI's ordinary 400.
func refuse(k Kind, param, code, format string, args ...any) *Refusal {
	return &Refusal{
		Kind: k, Status: http.StatusBadRequest, Type: "invalid_request_error",
		Param: param, Code: code, Message: fmt.Sprintf(format, args...),
	}
}

// The sentences of OpenAI's schema check, used by every rule about a field's presence, type and size.

func missing(at string) *Refusal {
	return refuse(KindShape, at, "missing_required_parameter", "Missing required parameter: '%s'.", at)
}

func wrongType(at, want string, got json.RawMessage) *Refusal {
	return refuse(KindShape, at, "invalid_type",
		"Invalid type for '%s': expected %s, but got %s instead.", at, want, typeOf(got))
}

// home-assistant/core#118577, openai/openai-python#2061
func emptyArray(at string) *Refusal {
	return refuse(KindShape, at, "empty_array",
		"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", at)
}

// openai/openai-dotnet#317
func longArray(at string, most, got int) *Refusal {
	return refuse(KindShape, at, "array_above_max_length",
		"Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", at, most, got)
}

// agno-agi/agno#5382
func longString(at string, most, got int) *Refusal {
	return refuse(KindShape, at, "string_above_max_length",
		"Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, most, got)
}

func emptyString(at string) *Refusal {
	return refuse(KindShape, at, "empty_string",
		"Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", at)
}

// typeOf names a JSON value in OpenAI's words.
func typeOf(v json.RawMessage) string {
	if len(v) == 0 {
		return "null"
	}
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	for _, c := range v {
		if c == '.' || c == 'e' || c == 'E' {
			return "a decimal"
		}
	}
	return "an integer"
}
