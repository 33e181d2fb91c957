package summarize

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/admission"
	"laconic/store"
)

// TestASummarizerIsLeftAloneLongerEachTime, until it answers again.
func TestASummarizerIsLeftAloneLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		defer s.cancel()
		f := func(pause time.Duration) {
			t.Helper()
			s.failed("it")
			s.failed("it") // another job of the same time
			time.Sleep(pause - time.Second)
			if !s.isCooling("it") || s.isCooling("other") {
				t.Errorf("it is asked again before %v", pause)
			}
			time.Sleep(2 * time.Second)
			if s.isCooling("it") {
				t.Errorf("it is not asked again after %v", pause)
			}
		}
		for range 2 {
			f(60 * time.Second)
			f(300 * time.Second)
			f(900 * time.Second)
			f(900 * time.Second)
			s.attempts.Invalidate("it")
		}
	})
}

// TestACredentialOfSeveralHeadersHasOneName, or its failures would be forgotten
// every other time.
func TestACredentialOfSeveralHeadersHasOneName(t *testing.T) {
	s := newService()
	defer s.Close()
	s.o.ClientCredential, s.store = true, opened(t, store.Options{})
	name := func(pairs ...string) string {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return s.credential(h)
	}
	first := name("Authorization", "Bearer a", "Openai-Organization", "o", "Openai-Project", "p")
	for range 50 {
		if name("Openai-Project", "p", "Authorization", "Bearer a", "Openai-Organization", "o") != first {
			t.Fatal("the same credential has two names")
		}
	}
	if name("Authorization", "Bearer a", "Openai-Organization", "o") == first {
		t.Error("another project has the same name")
	}
}

// newService returns a service that asks nobody.
func newService() *Service {
	return New(&Options{}, Environment{
		Memory: admission.NewGate(64<<20, 1<<20), Transport: http.DefaultTransport, Ended: func(JobInfo) {}, Failed: func(string, any) {},
	})
}
