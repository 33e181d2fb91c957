package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// matters are the keys of a record that are read, beside its id.
var matters = []string{"model", "tools", "functions", "response_format", "max_tokens", "max_completion_tokens", "messages", "system", "input", "instructions", "store", "max_output_tokens", "text"}

// decode reads one JSON object that holds messages. ID is "" if the object has no
// id. The error is a sentence without content.
func decode(raw []byte) (*Conversation, error) {
	if !json.Valid(raw) {
		return nil, errors.New("this is not valid JSON")
	}
	record := gjson.ParseBytes(raw)
	if !record.IsObject() {
		return nil, errors.New("this is JSON, but not an object with messages")
	}
	// The record is read as the proxy would read a body with these keys alone,
	// as they are written: a key that occurs twice, or that not all servers read
	// alike, is refused here too.
	var id string
	request := append(make([]byte, 0, len(raw)), '{')
	record.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "id" {
			id = value.Str
		}
		if slices.ContainsFunc(matters, func(k string) bool { return strings.EqualFold(k, key.Str) }) {
			if len(request) > 1 {
				request = append(request, ',')
			}
			request = append(append(append(request, key.Raw...), ':'), value.Raw...)
		}
		return true
	})
	request = append(request, '}')
	decoded, err := cmp.Or(wire.Detect(request), wire.Chat).Decode(request)
	if err != nil {
		var pass *wire.PassError
		if errors.As(err, &pass) {
			sentence := pass.Reason.Sentence()
			if pass.Detail != "" {
				sentence += ": " + pass.Detail
			}
			return nil, errors.New(sentence)
		}
		return nil, err
	}
	return &Conversation{
		ID: id, Model: decoded.Model, Messages: decoded.Conversation.Messages, Rules: decoded.Conversation.Rules,
		Tools: decoded.Tools, Functions: decoded.Functions, Format: decoded.Format,
	}, nil
}

// request reports whether a recorded list waits for an answer: it is a request as
// sent, and not a conversation with its last answer.
func (r *Conversation) request() bool {
	last := &r.Messages[len(r.Messages)-1]
	return last.Role != compact.Assistant || last.Open
}
