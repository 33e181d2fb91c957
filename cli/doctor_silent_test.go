package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// An upstream that takes a probe and says nothing is waited for as long as --timeout
// says, before its answer and within it.
func TestDoctorOfAnUpstreamThatIsSilent(t *testing.T) {
	for name, begins := range map[string]bool{"no answer": false, "an answer that begins": true} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if begins {
					_, _ = io.WriteString(w, "data: {}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}))
			defer srv.Close()
			code, all := examined(t, unwatched+"upstream: "+srv.URL+"/v1\n", "--probe", "--timeout", "200ms")
			if code != exitFailures || !has(all, "stream", failure, "its answer did not end in 200ms", "--timeout") {
				t.Errorf("%d %v", code, all)
			}
		})
	}
}

// What cannot be reached for another reason than that it does not run is not to be
// started.
func TestDoctorKnowsWhyAnUpstreamIsNotReached(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	f := func(upstream, fix string) {
		t.Helper()
		code, all := examined(t, unwatched+"upstream: "+upstream+"\n")
		if code != exitFailures || !has(all, "upstream", failure, "cannot be reached", fix) {
			t.Errorf("%s: %d %v", upstream, code, all)
		}
	}
	f("https"+plain.URL[4:]+"/v1", "it speaks http, not https")
	f("http://no-such-host.invalid/v1", "correct the name of the host")
	f("http://127.0.0.1:1/v1", "start it")
}
