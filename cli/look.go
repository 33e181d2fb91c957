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

// wantsKey reports whether an upstream refused the key that it was asked with, or none.
func wantsKey(f learn.Found) bool {
	return f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden
}

// look asks what an upstream is, with a key if there is one. It waits no longer than
// patience.
func look(ctx context.Context, u *url.URL, key string, patience time.Duration) learn.Found {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	t := &http.Transport{Proxy: http.ProxyFromEnvironment} // requests to this machine go without a proxy
	defer t.CloseIdleConnections()
	m := learn.New(learn.Options{Transport: t, Via: "laconic-look", Failed: func(any) {}})
	h := http.Header{}
	if strings.HasSuffix(u.Hostname(), "anthropic.com") {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if key != "" {
		access.SetCredential(h, access.Secret(key), false, access.Models)
	}
	return m.Look(ctx, learn.Upstream{URL: u, Header: h})
}
