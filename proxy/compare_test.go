package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"laconic/compact"
	"laconic/tokenize"

	"laconic/proxy/learn"
)

func calibrating(o *Options) {
	o.Default.Limits = compact.Limits{Window: 100_000}
	o.Calibrate = func(plain, way, percent int) learn.Calibration { return tokenize.NewCalibration(plain, way, percent) }
}

// counts is an upstream that reports usage: so many hundredths of the words
// that it read.
func counts(t testing.TB, form string, percent func(body []byte) int) *upstream {
	u := newUpstream(t, nil)
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		all := u.requests()
		body := all[len(all)-1].Body
		usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":2,"total_tokens":0}`, wordsIn(body)*percent(body)/100)
		switch form {
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"id\":1,\"choices\":[]}\n\ndata: {\"id\":1,\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
		default:
			_, _ = io.WriteString(w, `{"id":"x","choices":[],`+usage+`}`)
		}
	})
	return u
}

func TestTheAdminPageTellsWhatWasLearnt(t *testing.T) {
	u := newLimited(t, 2000, says)
	p := inFrontOf(t, u.upstream, windowed(100_000))
	p.chat(strings.Replace(agentBody(30, 100), "gpt-4o", "a\\nb", 1), "Authorization", "Bearer sk-canary")
	srv, err := p.Admin(AdminOptions{})
	if err != nil {
		t.Fatal(err)
	}
	page := func(path string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		srv.Handler.ServeHTTP(w, r)
		return w.Body.String()
	}
	text := page("/readyz?verbose")
	if !strings.Contains(text, "learnt: 1\n"+u.base(t, "/v1").Host+"/v1 \"a�b\" credential ") || !strings.Contains(text, "window 2000") || strings.Contains(text, "canary") {
		t.Errorf("%s", text)
	}
	p.replies(1)
	p = inFrontOf(t, u.upstream, windowed(100_000), func(o *Options) { o.Facts = &shelf{all: map[learn.Key]learn.Facts{}} })
	p.chat(strings.Replace(agentBody(30, 100), "gpt-4o", "a\\nb", 1))
	if srv, err = p.Admin(AdminOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := page("/readyz?verbose"); !strings.Contains(text, "learnt: 1, of what was asked for since the start; the store may hold more\n") {
		t.Errorf("%s", text)
	}
	if page("/readyz") != "ready\n" {
		t.Errorf("%s", page("/readyz"))
	}
}

// shelf is a place for facts outside of the process.
type shelf struct {
	mu  sync.Mutex
	all map[learn.Key]learn.Facts
}

func (s *shelf) Load(_ context.Context, key learn.Key) (learn.Facts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key], true
}

func (s *shelf) Save(_ context.Context, key learn.Key, l learn.Facts) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = l
	return true
}

// TestABrokenCalibrationCostsNothingButItself: the panic is told, and the next
// request finds no lock held.
func TestABrokenCalibrationCostsNothingButItself(t *testing.T) {
	p := inFrontOf(t, counts(t, "whole", func([]byte) int { return 120 }), calibrating, func(o *Options) {
		o.Calibrate = func(int, int, int) learn.Calibration { panic("a fault of this test") }
	})
	for range 2 {
		if res := p.chat(agentBody(10, 100)); res.StatusCode != 200 {
			t.Errorf("status %d", res.StatusCode)
		}
	}
	p.replies(2)
	if n := len(p.faults()); n != 2 {
		t.Errorf("%d faults were told, want 2", n)
	}
}
