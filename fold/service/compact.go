package service

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"laconic/fold"
	"laconic/proxy/wire"
)

// webhook is what Portkey sends to a guardrail of one's own before a request, as far
// as it is read.
type webhook struct {
	Request struct {
		JSON jsontext.Value `json:"json"`
	} `json:"request"`
	Event string `json:"eventType"`
}

// compact answers POST /compact: a body, in any of the shapes that are read, comes back
// smaller if it has to be, and a webhook of Portkey's gets its verdict. A whole body
// holds its tools, so Overhead is not added.
func (c *call) compact(ctx context.Context, body []byte) {
	inner, hook := body, webhook{}
	if wire.Detect(body) == nil {
		err := json.Unmarshal(body, &hook, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err == nil && hook.Request.JSON.Kind() == '{' {
			inner = hook.Request.JSON
		}
	}
	model, _ := wire.Model(inner) // what is wrong with it is said once it is decoded
	f := folded{out: inner, err: errBypassed}
	if o, ok := c.options(model, 0); ok && (hook.Event == "" || hook.Event == "beforeRequestHook") {
		o.Overhead = 0
		f = c.within(ctx, inner, func() ([]byte, fold.Report, error) { return fold.Compact(inner, o) })
	}
	describe(c.w, &f)
	switch same := len(f.out) == len(inner) && (len(inner) == 0 || &f.out[0] == &inner[0]); {
	case hook.Request.JSON == nil:
		answer(c.w, f.out)
	case same:
		answer(c.w, []byte(`{"verdict":true}`))
	default:
		answer(c.w, append(append([]byte(`{"verdict":true,"transformedData":{"request":{"json":`), f.out...), `}}}`...))
	}
}

// reason says in a word why a body came back as it came.
func reason(err error) string {
	var pass *wire.PassError
	switch {
	case errors.As(err, &pass):
		return string(pass.Reason)
	case errors.Is(err, fold.ErrShape):
		return "unknown_shape"
	case errors.Is(err, errLate), errors.Is(err, errBypassed):
		return err.Error()
	}
	return errFault.Error()
}
