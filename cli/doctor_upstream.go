package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"laconic/config"
	"laconic/number"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/discover"
	"laconic/proxy/why"
)

// doctorTime is how long an upstream may take to say what it is.
const doctorTime = 10 * time.Second

// upstream is an upstream and what it answered, for one of the configuration also with
// the key that goes there.
type upstream struct {
	discover.Found
	url   *url.URL
	place string // where the configuration has it
	match string // of its row; "" for that of all others
	key   string
	own   bool // the key is the configuration's
}

// upstreams asks the upstreams of the configuration, each once for each key.
func (p *patient) upstreams(ctx context.Context) (all []upstream) {
	for _, r := range p.options.Routes {
		u := upstream{url: r.Upstream, place: "upstream", match: r.Match, key: string(r.Key), own: r.Key != ""}
		if row := p.RowOf(r.Match); row.Upstream != "" {
			u.place = fmt.Sprintf("upstream of the row %q", r.Match)
		}
		if !u.own && r.ClientCredential {
			u.key = clientKey()
		}
		if !slices.ContainsFunc(all, func(has upstream) bool { return has.url.String() == u.url.String() && has.key == u.key }) {
			u.Found = look(ctx, u.url, u.key, doctorTime)
			all = append(all, u)
		}
	}
	return all
}

func checkUpstreams(ctx context.Context, p *patient) (all []finding) {
	for _, u := range p.seen {
		shown := config.ShownURL(u.url.String())
		whose := "OPENAI_API_KEY"
		if u.own {
			whose = fmt.Sprintf("api_key of the row %q", u.match)
		}
		f := finding{State: why.Failure}
		switch {
		case u.Err != nil:
			reason := apierror.Reason(u.Err)
			f.Says, f.Fix = fmt.Sprintf("%s cannot be reached (%s)", shown, reason), why.Reach(reason, u.place)
		case wantsKey(u.Found) && u.key == "":
			f = finding{State: why.Warning, Says: shown + " wants a key, and there is none here to try", Fix: "set OPENAI_API_KEY where you run laconic doctor, or api_key in a row of models"}
		case wantsKey(u.Found):
			f.Says, f.Fix = fmt.Sprintf("%s refuses %s with %d", shown, whose, u.Status), "correct "+whose+" (it was sent as it is, without quotes or spaces)"
		case len(u.Models) > 0 || u.Program != "":
			f = finding{State: why.Fine, Says: fmt.Sprintf("%s answers, with %s", shown, number.Count(len(u.Models), "model"))}
		case u.Status >= 500:
			f.Says, f.Fix = fmt.Sprintf("%s answers %d to GET /models", shown, u.Status), "look at the log of the upstream"
		default:
			f.Says, f.Fix = fmt.Sprintf("%s has no list of models (GET %s: %d)", shown, discover.ModelsURL(u.url).EscapedPath(), u.Status), "correct the path of "+u.place+"; most servers have their API below /v1"
			try := *u.url
			try.Path, try.RawPath = "/v1", ""
			if len(look(ctx, &try, u.key, doctorTime).Models) > 0 {
				f.Fix = u.place + ": " + config.ShownURL(try.String())
			} else if u.Status == http.StatusNotFound && strings.Contains(u.url.Path, "/v1") {
				f.State, f.Fix = why.Warning, "nothing, if the upstream has chat completions without a list of models (--probe tries)"
			}
		}
		all = append(all, f)
	}
	return all
}

func checkWindows(_ context.Context, p *patient) (all []finding) {
	agree := 0
	for _, u := range p.seen {
		models := slices.Clone(u.Models)
		for _, row := range p.Models {
			if !strings.Contains(row.Match, "*") && !slices.Contains(models, row.Match) {
				models = append(models, row.Match)
			}
		}
		for _, model := range models {
			row, published := p.RowOf(model), u.Published(model).Window
			if published == 0 || p.options.RouteFor(model).Upstream.String() != u.url.String() {
				continue
			}
			if small := why.Small(u.Program, model, published); small.Says != "" {
				all = append(all, finding{State: why.Warning, Says: small.Says, Fix: small.Fix})
			}
			most, what := row.Window, "window"
			if row.Budget > most {
				most, what = row.Budget, "budget"
			}
			f := finding{
				State: why.Failure, Says: fmt.Sprintf("%s: %s is %d, and the upstream runs it with %d", model, what, most, published),
				Fix: fmt.Sprintf("%s: %d in the row %q (window: auto asks for it), or start the server with more", what, published, row.Match),
			}
			if most <= published {
				agree++
			} else if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	switch {
	case len(all) > 0:
		return all
	case agree > 0:
		return []finding{{State: why.Fine, Says: fmt.Sprintf("no row is above the windows that upstreams publish (%s)", number.Count(agree, "model"))}}
	}
	none := finding{State: why.Unknown, Says: "no upstream publishes a window; laconic check --explain MODEL says which is taken"}
	for _, u := range p.seen {
		if first := why.Unloaded(u.Program); first.Says != "" {
			none.Says, none.Fix = first.Says, first.Fix
		}
	}
	return []finding{none}
}

// wantsKey reports whether an upstream refused the key that it was asked with, or none.
func wantsKey(f discover.Found) bool {
	return f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden
}

// look asks what an upstream is, with a key if there is one. It waits no longer than
// patience.
func look(ctx context.Context, u *url.URL, key string, patience time.Duration) discover.Found {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	t := &http.Transport{Proxy: http.ProxyFromEnvironment} // requests to this machine go without a proxy
	defer t.CloseIdleConnections()
	h := http.Header{}
	if strings.HasSuffix(u.Hostname(), "anthropic.com") {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	access.SetCredential(h, access.Secret(key), false, access.Models)
	return discover.Look(ctx, t, "laconic-look", discover.Upstream{URL: u, Header: h})
}
