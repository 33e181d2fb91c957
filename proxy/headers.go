package proxy

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// The response headers, set only with Options.ResponseHeaders. X-Laconic-Budget
// is one too: what the request was held to.
const (
	headerOutcome = "X-Laconic-Outcome"
	headerBefore  = "X-Laconic-Tokens-Before"
	headerAfter   = "X-Laconic-Tokens-After"
	headerStages  = "X-Laconic-Stages"
	headerKind    = "X-Laconic-Request-Kind"
	headerWhy     = "X-Laconic-Why"
	headerID      = "X-Laconic-Request-Id"
)

// clean removes headers or trailers that would be taken for ours.
func clean(h http.Header) {
	maps.DeleteFunc(h, func(name string, _ []string) bool { return ours(name) })
}

// stages is a structured list (RFC 9651): elide_results;n=4;saved=1200. Where
// there is a summarizer and a slot, the last item says what is in it:
// summary;hit, or summary;digest;reason=preparing, and of a slot of several spans
// how many hold a digest: summary;digest;spans=3;digests=1;reason=preparing.
func stages(i *RewriteInfo) string {
	var items []string
	if n := i.Report.Repairs; n > 0 {
		items = append(items, fmt.Sprintf("repair;n=%d", n))
	}
	for _, s := range i.Report.Stages {
		items = append(items, fmt.Sprintf("%s;n=%d;saved=%d", s.Name, s.Edits, s.Saved))
	}
	if s := i.Summary; s != nil {
		item := "summary;" + s.Outcome
		if s.Spans > 1 {
			item += fmt.Sprintf(";spans=%d;digests=%d", s.Spans, s.Digests)
		}
		if s.Reason != "" {
			item += ";reason=" + s.Reason
		}
		items = append(items, item)
	}
	return strings.Join(items, ", ")
}
