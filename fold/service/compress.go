package service

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"laconic/fold"
)

// compress answers POST /v1/compress. The answer has the eight fields of Headroom's
// service. Its numbers are of the messages alone, without what the options add. Callers
// send more than is read: config, gateway and what else that service takes.
func (c *call) compress(ctx context.Context, body []byte) {
	in := gjson.Parse(unsafe.String(unsafe.SliceData(body), len(body))) // it does not change
	messages := in.Get("messages")
	switch {
	case !json.Valid(body) || !in.IsObject():
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
	if o, ok := c.options(model, int(budget)); ok {
		f = c.within(ctx, list, func() ([]byte, fold.Report, error) { return fold.Messages(list, model, o) })
	}
	describe(c.w, &f)
	answer(c.w, compressAnswer(&f))
}

func compressAnswer(f *folded) []byte {
	before, after, ratio := 0, 0, 1.0
	if f.err == nil {
		before, after = f.report.Before-f.report.Fixed, f.report.After-f.report.Fixed
	}
	if before > 0 {
		ratio = float64(after) / float64(before)
	}
	var b bytes.Buffer
	b.Grow(len(f.out) + 512)
	b.WriteString(`{"messages":`)
	b.Write(f.out)
	for _, n := range []struct {
		name  string
		value int
	}{{"tokens_before", before}, {"tokens_after", after}, {"tokens_saved", max(0, before-after)}} {
		b.WriteString(`,"` + n.name + `":` + strconv.Itoa(n.value))
	}
	b.WriteString(`,"compression_ratio":` + strconv.FormatFloat(ratio, 'f', 4, 64) + `,"transforms_applied":[`)
	var summary bytes.Buffer
	if f.err == nil {
		for i, s := range done(&f.report) {
			if i > 0 {
				b.WriteByte(',')
				summary.WriteByte(',')
			}
			b.WriteString(strconv.Quote(s.Name))
			summary.WriteString(strconv.Quote(s.Name) + ":" + strconv.Itoa(s.Edits))
		}
	}
	b.WriteString(`],"transforms_summary":{` + summary.String() + `},"ccr_hashes":[]}`)
	return b.Bytes()
}
