package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestErrorsAreReadToAMegabyte(t *testing.T) {
	line := strings.Repeat(" ", 4<<10)
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":{"message":"prompt is too long: 3300 tokens > 2000 maximum"}`)
		for range 1200 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "}")
	})
	p := inFrontOf(t, u, windowed(100_000))
	res := p.chat(agentBody(30, 100))
	if res.StatusCode != 400 || len(res.body) != 1200*len(line)+70 || len(u.requests()) != 1 {
		t.Errorf("%d, %d bytes after %d hits", res.StatusCode, len(res.body), len(u.requests()))
	}
	if r := p.replies(1)[0]; r.Retry != nil || r.Code != "" {
		t.Errorf("%+v", r)
	}
}
