package proxy

import (
	"fmt"
	"io"
	"net/http"
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
	return answering(t, func(w http.ResponseWriter, body []byte) bool {
		usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":2,"total_tokens":0}`, wordsIn(body)*percent(body)/100)
		switch form {
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"id\":1,\"choices\":[]}\n\ndata: {\"id\":1,\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
		default:
			_, _ = io.WriteString(w, `{"id":"x","choices":[],`+usage+`}`)
		}
		return true
	})
}

// TestABrokenCalibrationCostsNothingButItself: the panic is told, and the next
// request finds no lock held.
func TestABrokenCalibrationCostsNothingButItself(t *testing.T) {
	p := inFrontOf(t, counts(t, "whole", func([]byte) int { return 120 }), calibrating, func(o *Options) {
		o.Calibrate = func(int, int, int) learn.Calibration { panic("a fault of this test") }
	})
	for range 2 {
		p.chat(agentBody(10, 100)).want(t, 200)
	}
	p.replies(2)
	if n := len(p.faults()); n != 2 {
		t.Errorf("%d faults were told, want 2", n)
	}
}
