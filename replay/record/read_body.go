package record

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// matters are the keys of a recorded conversation or request that are read,
// beside its id.
var matters = []string{"model", "tools", "functions", "response_format", "messages"}

// decode reads one JSON object that holds messages. named reports whether the
// record has an id of its own. The error is a sentence without content.
func decode(raw []byte) (r *Conversation, named bool, err error) {
	if !json.Valid(raw) {
		return nil, false, errors.New("this is not valid JSON")
	}
	record := gjson.ParseBytes(raw)
	if !record.IsObject() {
		return nil, false, errors.New("this is JSON, but not an object with messages")
	}
	// Everything else of the record is no part of a request: it is read as the
	// proxy would read a body with these keys alone, as they are written, so
	// that a key which is there twice, or which not all servers read alike, is
	// refused as there.
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
	decoded, err := wire.Chat.Decode(request)
	if err != nil {
		var pass *wire.PassError
		if errors.As(err, &pass) {
			sentence := pass.Reason.Sentence()
			if pass.Detail != "" {
				sentence += ": " + pass.Detail
			}
			return nil, false, errors.New(sentence)
		}
		return nil, false, err
	}
	r = &Conversation{
		Model: decoded.Model, Messages: decoded.Conversation.Messages,
		Tools: decoded.Tools, Functions: decoded.Functions, Format: decoded.ResponseFormat,
	}
	r.ID = id
	return r, id != "", nil
}

// request reports whether a recorded list waits for an answer, so that it is a
// request as it was sent and not a conversation with its end.
func (r *Conversation) request() bool {
	last := &r.Messages[len(r.Messages)-1]
	return last.Role != compact.Assistant || last.Open
}
