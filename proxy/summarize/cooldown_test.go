package summarize

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"laconic/proxy/admission"
	"laconic/store"
)

// TestTheSameGapAgainIsNoFurtherDoubt.
func TestTheSameGapAgainIsNoFurtherDoubt(t *testing.T) {
	s := newService()
	defer s.Close()
	for range 2 * mostDoubts {
		s.doubt("it", store.Key{1})
	}
	if s.isCooling("it") {
		t.Error("one gap is enough")
	}
	for i := range mostDoubts - 2 {
		s.doubt("it", store.Key{2, byte(i)})
	}
	s.succeeded("it")
	s.doubt("it", store.Key{3})
	if s.isCooling("it") {
		t.Error("a success between them does not count")
	}
}

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
			s.succeeded("it")
		}
	})
}

// TestAnUnfoldedPolicyAsksAgainAtTheNextAttempt, though the summarizer failed a
// moment ago; but by one request at a time.
func TestAnUnfoldedPolicyAsksAgainAtTheNextAttempt(t *testing.T) {
	s := newService()
	defer s.Close()
	s.failed("own")
	f := func(unfolded bool, want string) {
		t.Helper()
		if why := s.refuses(store.Key{2}, "own", 1000, unfolded); why != want {
			t.Errorf("unfolded %v: %q, want %q", unfolded, why, want)
		}
	}
	f(false, "cooling")
	f(true, "")
	s.jobs[store.Key{1}] = &job{credential: "another"}
	f(true, "")
	s.jobs[store.Key{1}] = &job{credential: "own"}
	f(true, "cooling")
}

// TestACredentialOfSeveralHeadersHasOneName, or its failures would be forgotten
// every other time.
func TestACredentialOfSeveralHeadersHasOneName(t *testing.T) {
	s := newService()
	defer s.Close()
	vault, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer vault.Close()
	s.o.ClientCredential, s.o.Store = true, vault
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
	return New(&Options{Transport: http.DefaultTransport}, Environment{
		Memory: admission.NewGate(64<<20, 1<<20), Ended: func(JobInfo) {}, Failed: func(string, any) {},
	})
}
