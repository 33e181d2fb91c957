package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/stage"
)

// byteLimited is an upstream, or what stands in front of one, that takes bodies
// of no more than limit bytes.
func byteLimited(t *testing.T, limit int) *upstream {
	return answering(t, func(w http.ResponseWriter, body []byte) bool {
		if len(body) > limit {
			w.WriteHeader(413)
			_, _ = io.WriteString(w, "<html>413 Request Entity Too Large</html>")
		}
		return len(body) > limit
	})
}

func withMedia(o *Options) {
	o.Default.Limits = compact.Limits{Window: 100_000}
	o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{elide{}, must(stage.New("strip_media", nil)), drop{}}}
}

func image(kilobytes int) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"look at this"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo%s"}}]}`,
		strings.Repeat("A", kilobytes<<10))
}

// Old images leave before any text, at once and on the next turn, and text where
// there is none.
func TestOfALargeBodyMediaLeaveFirst(t *testing.T) {
	u := byteLimited(t, 1<<20)
	p := inFrontOf(t, u, withMedia)
	const round = `,{"role":"assistant","content":"a picture"},`
	rest, _ := strings.CutPrefix(agentBody(30, 100), `{"model":"gpt-4o","messages":[{"role":"system","content":"be brief"},`)
	body := `{"model":"gpt-4o","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"read the pictures"}` +
		round + image(600) + round + image(600) + round + rest
	for hits := 2; hits <= 3; hits++ {
		if res := p.chat(body); res.StatusCode != 200 || len(u.requests()) != hits {
			t.Fatalf("%d after %d hits", res.StatusCode, len(u.requests()))
		}
	}
	all := u.requests()
	second := string(all[1].Body)
	if strings.Count(second, "(image left out)") == 0 || strings.Contains(second, "(gone)") || strings.Count(second, "word ") != 3000 {
		t.Errorf("%d images left out, %d words of 3000", strings.Count(second, "(image left out)"), strings.Count(second, "word "))
	}
	if !bytes.Equal(all[1].Body, all[2].Body) {
		t.Error("the next turn was planned otherwise")
	}
	r := p.replies(1)[0]
	if r.Outcome != Retried || r.Rewrite.Report.After >= r.Rewrite.Report.Before || r.Rewrite.Report.After < 3000 || r.Retry.Kind != "bytes" {
		t.Errorf("%+v %+v", r.Rewrite.Report, r.Retry)
	}
	// A size that was answered is no limit: a smaller body is sent as it came.
	text := agentBody(30, 100)
	if p.chat(text); string(u.requests()[3].Body) != text {
		t.Error("a small body was edited")
	}
	p.chat(agentBody(300, 800)).want(t, 200, "a large body of text")
}

// TestASmallLimitOfBytesIsFoundOnce: of a conversation that grows, two bodies are
// refused in front of what takes 40 KB, and the others are folded under that at once.
func TestASmallLimitOfBytesIsFoundOnce(t *testing.T) {
	u := byteLimited(t, 40<<10)
	p := inFrontOf(t, u, withMedia)
	const first, last = 14, 40
	for n := first; n < last; n++ {
		p.chat(agentBody(n, 600)).want(t, 200, n, "results")
	}
	if hits, turns := len(u.requests()), last-first; hits > turns+2 {
		t.Errorf("%d requests for %d turns", hits, turns)
	}
}
