package proxy

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestASecondBodyIsNotLetGoWithTheFirst, where both are the client's own bytes and
// the answer to the second begins before it was read.
func TestASecondBodyIsNotLetGoWithTheFirst(t *testing.T) {
	body := agentBody(30, 60_000) // more than sockets hold
	begun := make(chan bool)
	begin := sync.OnceFunc(func() { close(begun) })
	defer begin()
	var got string
	u := newUpstream(t, nil)
	u.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != int64(len(body)) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(400)
			return
		}
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Content-Type", "text/event-stream")
		piece(w, "data: {\"choices\":[{\"delta\":{\"content\":\"so\"}}]}\n\n")
		<-begun
		all, _ := io.ReadAll(r.Body)
		got = string(all)
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})
	p := inFrontOf(t, u, windowed(1_850_000))
	res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil || res.Header.Get("X-Laconic-Outcome") != "retried" {
		t.Fatalf("%v %v", err, res.Header)
	}
	begin()
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if got != body {
		t.Errorf("%d bytes of %d, or other ones", len(got), len(body))
	}
}
