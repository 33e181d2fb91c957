package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/fold"
	"laconic/proxy/wire"
)

// compact answers POST /compact: a body, in any of the shapes that are read, comes back
// smaller if it has to be, and a webhook of Portkey's gets its verdict. A whole body
// holds its tools, so Overhead is not added.
func (c *call) compact(ctx context.Context, body []byte) {
	inner, hook := body, gjson.Result{} // the body that a webhook holds
	var event string
	if wire.Detect(body) == nil && json.Valid(body) {
		in := gjson.ParseBytes(body)
		if hook, event = in.Get("request.json"), in.Get("eventType").Str; hook.IsObject() {
			inner = []byte(hook.Raw)
		}
	}
	model, _ := wire.Model(inner) // what is wrong with it is said once it is decoded
	f := folded{out: inner, err: errBypassed}
	if o, ok := c.options(ctx, model, 0); ok && (event == "" || event == "beforeRequestHook") {
		o.Overhead = 0
		f = c.within(ctx, inner, func() ([]byte, compact.Report, error) { return fold.Compact(inner, o) })
	}
	describe(c.w, &f)
	switch same := len(f.out) == len(inner) && (len(inner) == 0 || &f.out[0] == &inner[0]); {
	case !hook.Exists():
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

// compress answers POST /v1/compress. The answer has the eight fields of Headroom's
// service. Its numbers are of the messages alone, without what the options add. Callers
// send more than is read: config, gateway and what else that service takes.
func (c *call) compress(ctx context.Context, body []byte) {
	in := gjson.Parse(unsafe.String(unsafe.SliceData(body), len(body))) // it does not change
	messages := in.Get("messages")
	switch {
	case !gjson.ValidBytes(body) || !in.IsObject():
		refuse(c.w, http.StatusBadRequest, "the body is not a JSON object")
		return
	case !messages.IsArray():
		refuse(c.w, http.StatusBadRequest, "messages is not a list")
		return
	}
	list := body[messages.Index : messages.Index+len(messages.Raw)]
	f := folded{out: list, err: errBypassed}
	model := strings.Clone(in.Get("model").Str) // "" of whatever is no string
	budget, err := strconv.ParseUint(in.Get("token_budget").Raw, 10, 31)
	if err != nil {
		budget = 0 // it is not a whole number, and so none
	}
	if o, ok := c.options(ctx, model, int(budget)); ok {
		f = c.within(ctx, list, func() ([]byte, compact.Report, error) { return fold.Messages(list, model, o) })
	}
	describe(c.w, &f)
	answer(c.w, compressAnswer(&f))
}

func compressAnswer(f *folded) []byte {
	before, after, ratio := 0, 0, 1.0
	names, edits := []string{}, map[string]int{}
	if f.err == nil {
		before, after = f.report.Before-f.report.Fixed, f.report.After-f.report.Fixed
		for _, s := range f.report.Did() {
			names = append(names, s.Name)
			edits[s.Name] = s.Edits
		}
	}
	if before > 0 {
		ratio = float64(after) / float64(before)
	}
	applied, _ := json.Marshal(names) // of strings and numbers alone, which cannot fail
	summary, _ := json.Marshal(edits)
	return fmt.Appendf(make([]byte, 0, len(f.out)+512), `{"messages":%s,"tokens_before":%d,"tokens_after":%d,"tokens_saved":%d,"compression_ratio":%.4f,`+
		`"transforms_applied":%s,"transforms_summary":%s,"ccr_hashes":[]}`, f.out, before, after, max(0, before-after), ratio, applied, summary)
}
