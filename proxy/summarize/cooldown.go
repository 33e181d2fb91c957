package summarize

import (
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"

	"laconic/proxy/access"
)

// coolDowns are how long a model that failed is left alone, longer each time. A
// gap that failed is left alone too, and only the gap if its content may be why:
// one client cannot switch off the summaries of all. If each client brings its
// own credential, the wrong key of one is no reason not to serve another.
var coolDowns = []time.Duration{60 * time.Second, 300 * time.Second, 900 * time.Second}

// attempts are those for a gap, or with a credential, that failed in succession.
type attempts struct {
	n     int // failures since the last success
	until time.Time
}

// isCooling reports whether a credential or a gap is to be left alone.
func (s *Service) isCooling(name string) bool {
	a, _ := s.attempts.GetIfPresent(name)
	return time.Now().Before(a.until)
}

// failed notes a failure, and begins the next pause. Of several failures at once only
// the first counts.
func (s *Service) failed(name string) {
	s.attempts.Compute(name, func(a attempts, _ bool) (attempts, otter.ComputeOp) {
		if now := time.Now(); !now.Before(a.until) {
			a.until = now.Add(coolDowns[min(a.n, len(coolDowns)-1)])
			a.n++
		}
		return a, otter.WriteOp
	})
}

// credential names the credential that the model is asked with.
func (s *Service) credential(h http.Header) string {
	if !s.o.ClientCredential {
		return "own"
	}
	parts := access.Credentials(clientCredential(h))
	key := s.store.Key(s.store.Group("credential"), "", parts...) // nothing is stored under it
	return string(key[:])
}
