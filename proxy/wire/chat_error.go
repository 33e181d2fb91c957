package wire

import (
	"encoding/json"
	"fmt"

	"laconic/compact"
)

// chatError is the envelope of OpenAI's errors.
type chatError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

func (*chat) Error(e Error) []byte {
	var v chatError
	v.Error.Message, v.Error.Type, v.Error.Code = e.Message, e.Type, &e.Code
	if e.Param != "" {
		v.Error.Param = &e.Param
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an error body is always JSON: " + err.Error())
	}
	return append(b, '\n')
}

// TooLong uses OpenAI's own sentences, because agents read the numbers out of them
// and recover from exactly these. M is what the client sent, not what compaction
// could make of it, so that a client that cuts M − N tokens is sure to fit.
func (*chat) TooLong(r *compact.Report, most, tools int) Error {
	if r.After <= r.Budget {
		return Error{Param: "messages", Code: "array_above_max_length", Message: fmt.Sprintf(
			"Invalid 'messages': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
			most, r.MessagesBefore)}
	}
	e := Error{Param: "messages", Code: "context_length_exceeded", Message: fmt.Sprintf(
		"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. "+
			"Please reduce the length of the messages.", r.Budget, r.Before)}
	if tools > 0 {
		e.Message = fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens "+
			"(%d in the messages, %d in the functions). Please reduce the length of the messages or functions.",
			r.Budget, r.Before, r.Before-tools, tools)
	}
	return e
}
