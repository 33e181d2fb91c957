package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/config/configtest"
	"laconic/e2e/rig"
	"laconic/fold/service"
)

// rounds returns the messages of some rounds of an agent.
func rounds(n int) string {
	var b strings.Builder
	b.WriteString(`[{"role":"user","content":"Fix the build."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, i, strings.Repeat(fmt.Sprintf("line %d of a file\\n", i), 60))
	}
	return b.String() + "]"
}

// The service is that of the file: what a proxy has learnt of a model changes no byte.
func TestTheServiceLearnsNothing(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"This model's maximum context length is 9000 tokens. However, your messages resulted in 20000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`)
	}))
	defer refusing.Close()
	var replicas []*httptest.Server
	for range 2 {
		p, _ := proxyFor(t, parsed(t, `
upstream: `+refusing.URL+`/v1
service: true
discover: false
models: [{match: "m", window: 16000, overhead: 2000}]`, configtest.Variable))
		defer p.Close()
		s := httptest.NewServer(p)
		defer s.Close()
		replicas = append(replicas, s)
	}
	rig.Post(t, replicas[0].URL+"/v1/chat/completions", []byte(`{"model":"m","messages":`+rounds(30)+`}`))
	call := []byte(`{"model":"m","messages":` + rounds(60) + `}`)
	for _, path := range []string{"/v1/compress", "/compact"} {
		_, h, one := rig.Post(t, replicas[0].URL+path, call)
		_, _, two := rig.Post(t, replicas[1].URL+path, call)
		if !bytes.Equal(one, two) || h.Get("X-Laconic-Outcome") != "compacted" || h.Get("X-Laconic-Budget") != "12000" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestTheServiceIsThatOfTheRows(t *testing.T) {
	o := optionsFor(t, `
service: true
summarizer: {model: s, api_key: k}
models:
  - {match: "off", mode: off}
  - {match: "shadow", mode: shadow}
  - {match: "big", overhead: 5000, budget: 9000, system_messages: fold, policy: elide}
`)
	s := o.Service.(*service.Handler)
	for model, want := range map[string]bool{"off": false, "shadow": false, "big": true, "": true, "other": true} {
		if _, on := s.Options(model); on != want {
			t.Errorf("%q: %v", model, on)
		}
	}
	big, _ := s.Options("big")
	if big.Overhead != 5000 || big.Limits.Budget != 9000 || big.Policy.Name != "elide" || big.Policy.Demands != compact.OneSystem || big.Policy.Summaries {
		t.Errorf("%+v", big)
	}
	if other, _ := s.Options("other"); other.Overhead != 0 || other.Policy.Summaries {
		t.Errorf("%+v", other)
	}
	if o := optionsFor(t, ""); o.Service != nil {
		t.Error("the service is on by default")
	}
}
