package binary

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"laconic/e2e/rig"

	"laconic/store/storetest"
)

// TestTracesOfTheBinary: a process that is told to end sends its last spans, and one
// whose collector is gone says so once and ends as well.
func TestTracesOfTheBinary(t *testing.T) {
	var mu sync.Mutex
	var took []byte
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		took = append(took, body...)
	}))
	defer collector.Close()
	var parents []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // others are our own questions
			mu.Lock()
			parents = append(parents, r.Header.Get("Traceparent"))
			mu.Unlock()
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`)
	}))
	defer upstream.Close()
	gone := "http://" + storetest.FreeAddress(t)
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-"
	for _, to := range []string{collector.URL, gone, ""} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to)
		t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
		p := rig.Start(t, upstream.URL+"/v1", "")
		for range 10 {
			rig.Post(t, p.URL+"/v1/chat/completions", []byte(`{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}`), "Traceparent", trace+"00f067aa0ba902b7-01")
		}
		p.Stop(t)
		warnings, lines := strings.Count(p.Output(), "the collector does not take traces"), strings.Count(p.Output(), `"traces"`)
		mu.Lock()
		spans, own := bytes.Count(took, []byte("chat gpt-5")), 0
		for _, parent := range parents {
			if !strings.HasPrefix(parent, trace) {
				t.Error(parent)
			}
			if !strings.HasPrefix(parent, trace+"00f067aa0ba902b7") {
				own++
			}
		}
		took, parents = nil, nil
		mu.Unlock()
		wantSpans := map[string]int{collector.URL: 10}[to]
		wantLines := map[string]int{collector.URL: 1, gone: 2}[to] // where to, and the warning
		wantOwn := map[string]int{collector.URL: 10, gone: 10}[to]
		if spans != wantSpans || warnings != max(0, wantLines-1) || lines != wantLines || own != wantOwn {
			t.Errorf("to %q: %d spans, %d warnings in %d lines, %d times our own parent\n%.3000s", to, spans, warnings, lines, own, p.Output())
		}
	}
}
