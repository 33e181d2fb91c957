package proxy

import (
	"maps"
	"net/http"
	"strconv"
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

// stamp writes what happened to the request on the headers of its answer. An
// upstream that is a Laconic too has written its own there; they would be
// taken for ours.
func (x *request) stamp(h http.Header) {
	if !x.settings.ResponseHeaders {
		return
	}
	clean(h)
	h.Set(headerID, x.info.ID)
	if x.info.Outcome != "" {
		h.Set(headerOutcome, string(x.info.Outcome))
	}
	if words := x.overrides.ignored(); words != "" {
		h.Set(headerIgnored, words)
	}
	if words := x.shownReason(); words != "" {
		h.Set(headerWhy, words)
	}
	i := x.info.Rewrite
	if i == nil {
		return
	}
	h.Set(headerBefore, strconv.Itoa(i.Report.Before))
	h.Set(headerAfter, strconv.Itoa(i.Report.After))
	h.Set(headerBudget, strconv.Itoa(i.Report.Budget))
	if i.Kind != "" {
		h.Set(headerKind, i.Kind)
	}
	if s := stages(i); s != "" {
		h.Set(headerStages, s)
	}
}

// stages is a structured list (RFC 9651): elide_results;n=4;saved=1200. Where
// there is a summarizer and a slot, the last item says what is in it:
// summary;hit, or summary;digest;reason=preparing, and of a slot of several spans
// how many hold a digest: summary;digest;spans=3;digests=1;reason=preparing.
func stages(i *RewriteInfo) string {
	var b strings.Builder
	item := func(name string, n int) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + ";n=" + strconv.Itoa(n))
	}
	if i.Report.Repairs > 0 {
		item("repair", i.Report.Repairs)
	}
	for _, s := range i.Report.Stages {
		item(s.Name, s.Edits)
		b.WriteString(";saved=" + strconv.Itoa(s.Saved))
	}
	if s := i.Summary; s != nil {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString("summary;" + s.Outcome)
		if s.Spans > 1 {
			b.WriteString(";spans=" + strconv.Itoa(s.Spans) + ";digests=" + strconv.Itoa(s.Digests))
		}
		if s.Reason != "" {
			b.WriteString(";reason=" + s.Reason)
		}
	}
	return b.String()
}
