package cli

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"laconic/proxy/access"
	"laconic/proxy/learn"
)

// looked is what an upstream is, by its own answers.
type looked struct {
	learn.Found
	err error // why it did not answer
}

// wantsKey reports whether the upstream refused the key that it was asked with, or none.
func (l looked) wantsKey() bool {
	return l.Status == http.StatusUnauthorized || l.Status == http.StatusForbidden
}

// look asks what an upstream is, with a key if there is one. It waits no longer than
// patience.
func look(ctx context.Context, u *url.URL, key string, patience time.Duration) looked {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	t := &witness{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}} // which is none for this machine
	defer t.CloseIdleConnections()
	m := learn.New(learn.Options{Transport: t, Via: "laconic-look", Failed: func(any) {}})
	h := http.Header{}
	if strings.HasSuffix(u.Hostname(), "anthropic.com") {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if key != "" {
		access.SetCredential(h, access.Secret(key), false, access.Models)
	}
	found := m.Look(ctx, learn.Upstream{URL: u, Header: h})
	return looked{found, t.err}
}

// witness keeps how the first request ended, which is that for the list of models.
type witness struct {
	*http.Transport
	asked bool
	err   error
}

func (l *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.Transport.RoundTrip(r)
	if !l.asked {
		l.asked, l.err = true, err
	}
	return res, err
}
