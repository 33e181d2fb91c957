package record

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// decode reads one JSON object that holds messages, as the proxy reads a body. ID is "" if
// the object has no id. The error is a sentence without content.
func decode(raw []byte) (*Conversation, error) {
	if !json.Valid(raw) {
		return nil, errors.New("this is not valid JSON")
	}
	if !gjson.ParseBytes(raw).IsObject() {
		return nil, errors.New("this is JSON, but not an object with messages")
	}
	decoded, err := cmp.Or(wire.Detect(raw), wire.Chat).Decode(raw)
	if pass := (*wire.PassError)(nil); errors.As(err, &pass) { // as every error of Decode is
		return nil, errors.New(pass.Says())
	} else if err != nil {
		return nil, err
	}
	return &Conversation{
		ID: gjson.GetBytes(raw, "id").Str, Model: decoded.Model, Messages: decoded.Conversation.Messages, Rules: decoded.Conversation.Rules,
		Tools: decoded.Tools, Functions: decoded.Functions, Format: decoded.Format,
	}, nil
}

// request reports whether a recorded list waits for an answer: it is a request as
// sent, and not a conversation with its last answer.
func (r *Conversation) request() bool {
	last := &r.Messages[len(r.Messages)-1]
	return last.Role != compact.Assistant || last.Open
}
