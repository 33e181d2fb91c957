package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/store"
)

// Summarizer is the model that writes the text of slots. Without one, or
// wherever its text is not there, the digest stands in.
type Summarizer struct {
	// Upstream is the base URL of its API, as in https://api.openai.com/v1.
	// Required; any OpenAI-compatible endpoint.
	Upstream *url.URL
	// Model is the name it goes by there. Required.
	Model string
	// Key is sent to it; empty: no credential, or the client's.
	Key Secret
	// ClientCredential: the credential of the request that a summary is for
	// is sent, instead of Key. Not with Options.ClientKeys.
	ClientCredential bool
	// Wait is how long a request may be held until its summary is there; 0: a
	// request is never held.
	Wait time.Duration
	// WaitUnfolded is the same under a policy that is not folded. Its gap is
	// another one at every request, so that no summary can be there before.
	WaitUnfolded time.Duration
	// Timeout is the time for a summary as a whole; 0: 60 s.
	Timeout time.Duration
	// Window is the model's window in tokens, at least LeastSummaryWindow; 0:
	// compact.DefaultWindow.
	Window int
	// Mask takes what looks like a secret out of what is sent and kept.
	Mask bool
	// Workers is how many summaries are made at once; 0: 8. What comes when
	// all are busy is not made.
	Workers int
	// Counter counts for the model. Required.
	Counter compact.Counter
	// Store is where summaries are kept. Required. The proxy does not close it.
	Store *store.Vault
	// Transport is what requests to it leave by; nil: one of its own.
	Transport http.RoundTripper
}

// Defaults of a Summarizer.
const (
	DefaultSummaryTimeout = 60 * time.Second
	DefaultSummaryWorkers = 8
	// DefaultUnfoldedWait is a WaitUnfolded for who has no wish.
	DefaultUnfoldedWait = 20 * time.Second
)

// faults says everything that makes a summarizer impossible.
func (s *Summarizer) faults(o *Options) (all []error) {
	if err := access.CheckUpstream(s.Upstream); err != nil {
		all = append(all, err)
	} else if access.SameListener(s.Upstream, o.Listen) {
		all = append(all, errors.New("its upstream is the proxy's own address"))
	}
	if s.Model == "" {
		all = append(all, errors.New("it has no model"))
	}
	if s.Counter == nil || s.Store == nil {
		all = append(all, errors.New("it has no counter or no store"))
	}
	if s.ClientCredential && (len(o.ClientKeys) > 0 || s.Key != "") {
		all = append(all, errors.New("it cannot have the client's credential: there is a key of its own, or client keys that go no further than the proxy"))
	}
	if s.Wait < 0 || s.WaitUnfolded < 0 || s.Timeout < 0 || s.Window < 0 || s.Workers < 0 {
		all = append(all, errors.New("a limit is negative"))
	} else if s.Window > 0 && s.Window < LeastSummaryWindow {
		all = append(all, fmt.Errorf("its window of %d tokens is too small: %d are needed", s.Window, LeastSummaryWindow))
	}
	return all
}
