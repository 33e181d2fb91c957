package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"laconic/compact"
)

func TestEachRefusalOfATemplateAddsADemandThatStays(t *testing.T) {
	body := agentBody(30, 100)
	f := func(name string, takes func(b []byte) bool, window int, want ...string) {
		t.Run(name, func(t *testing.T) {
			u := answering(t, func(w http.ResponseWriter, body []byte) bool {
				if !takes(body) {
					saysTemplate(w, 500, "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.")
				}
				return !takes(body)
			})
			p := inFrontOf(t, u, windowed(window), func(o *Options) {
				o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{saying("digest"), drop{}}}
			})
			for turn, w := range want {
				before := len(u.requests())
				res := p.chat(body)
				r := p.replies(turn + 1)[turn]
				got := fmt.Sprintf("%s after %d, %s", map[int]string{200: "answered", 500: "refused"}[res.StatusCode],
					len(u.requests())-before, r.Rewrite.Facts.Demands.Value)
				if got != w {
					t.Errorf("turn %d: %s, want %s (%+v)", turn+1, got, w, r.Retry)
				}
			}
		})
	}
	whole := func(b []byte) bool { return len(b) == len(body) }
	f("takes all", func([]byte) bool { return true }, 3600, "answered after 1, full", "answered after 1, full")
	f("no text in the first user message", func(b []byte) bool { return !bytes.Contains(b, []byte("THE-WORD digest")) }, 3600,
		"answered after 2, no slot", "answered after 1, no slot")
	f("only the client's own list", whole, 3600,
		"refused after 2, full", "answered after 2, original", "answered after 1, original")
	f("nothing", func([]byte) bool { return false }, 3600,
		"refused after 2, full", "refused after 2, no slot", "refused after 2, full")
	f("only the client's own list, which is too long", whole, 2600,
		"refused after 2, full", "refused after 1, no slot", "refused after 1, no slot")
}
