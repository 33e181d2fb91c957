package replay

import (
	"bytes"
	"encoding/json"
	"errors"

	"laconic/compact"
	"laconic/proxy/wire"
)

// body is what matters of a recorded conversation or request.
type body struct {
	ID        json.RawMessage `json:"id"`
	Model     json.RawMessage `json:"model"`
	Messages  json.RawMessage `json:"messages"`
	Tools     json.RawMessage `json:"tools"`
	Functions json.RawMessage `json:"functions"`
	Format    json.RawMessage `json:"response_format"`
}

// decode reads one JSON object that holds messages. named tells whether the
// record has an id of its own. The error is a sentence without content.
func decode(raw []byte) (r *Recorded, named bool, err error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			return nil, false, errors.New("this is JSON, but not an object with messages")
		}
		return nil, false, errors.New("this is not valid JSON")
	}
	// Everything else of the record is no part of a request: it is read as the
	// proxy would read a body with these fields alone.
	var request bytes.Buffer
	request.Grow(len(raw))
	request.WriteByte('{')
	for _, f := range []struct {
		key   string
		value json.RawMessage
	}{{"model", b.Model}, {"tools", b.Tools}, {"functions", b.Functions}, {"response_format", b.Format}, {"messages", b.Messages}} {
		if f.value == nil {
			continue
		}
		if request.Len() > 1 {
			request.WriteByte(',')
		}
		request.WriteString(`"` + f.key + `":`)
		request.Write(f.value)
	}
	request.WriteByte('}')
	decoded, err := wire.Decode(request.Bytes())
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
	r = &Recorded{
		Model: decoded.Model, Messages: decoded.Conversation.Messages,
		Tools: decoded.Tools, Functions: decoded.Functions, Format: decoded.ResponseFormat,
	}
	named = json.Unmarshal(b.ID, &r.ID) == nil && r.ID != ""
	return r, named, nil
}

// request tells whether a recorded list waits for an answer, so that it is a
// request as it was sent and not a conversation with its end.
func (r *Recorded) request() bool {
	last := &r.Messages[len(r.Messages)-1]
	return last.Role != compact.Assistant || last.Open
}
