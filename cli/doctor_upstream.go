package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"laconic/config"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/learn"
	"laconic/proxy/why"
)

const (
	// doctorTime is how long one question may take.
	doctorTime = 10 * time.Second
	// mostClock is how far the clock may be off: signed requests and the ends of
	// certificates allow about so much.
	mostClock = 5 * time.Minute
)

// upstreamOf is one upstream of the configuration, and whose key goes there.
type upstreamOf struct {
	url   *url.URL
	place string // where the configuration has it
	match string // of its row; "" for that of all others
	key   string
	own   bool // the key is the configuration's
}

// upstreams returns the upstreams of the configuration, each once for each key.
func (p *patient) upstreams() (all []upstreamOf) {
	add := func(u upstreamOf) {
		for _, has := range all {
			if has.url.String() == u.url.String() && has.key == u.key {
				return
			}
		}
		all = append(all, u)
	}
	for _, r := range p.options.Routes {
		u := upstreamOf{url: r.Upstream, place: "upstream", match: r.Match, key: string(r.Key), own: r.Key != ""}
		if row := p.RowOf(r.Match); row.Upstream != "" {
			u.place = fmt.Sprintf("upstream of the row %q", r.Match)
		}
		if !u.own && r.ClientCredential {
			u.key = p.key
		}
		add(u)
	}
	return all
}

// listAnswer is how an upstream answered for its list of models.
type listAnswer struct {
	status int
	date   string
	models []string
	isList bool
	err    error
}

// list asks an upstream for its list of models, once.
func (p *patient) list(ctx context.Context, base *url.URL, key string) listAnswer {
	name := base.String() + " " + key
	a, ok := p.asked[name]
	if !ok {
		a = p.ask(ctx, base, key)
		p.asked[name] = a
	}
	return a
}

func (p *patient) ask(ctx context.Context, base *url.URL, key string) (a listAnswer) {
	ctx, stop := context.WithTimeout(ctx, doctorTime)
	defer stop()
	r := (&http.Request{Method: http.MethodGet, URL: learn.ModelsURL(base), Header: http.Header{"User-Agent": {"laconic"}}}).WithContext(ctx)
	p.authorize(r, base, key)
	res, err := p.client.Do(r)
	if err != nil {
		return listAnswer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	a = listAnswer{status: res.StatusCode, date: res.Header.Get("Date"), err: err}
	if page := gjson.ParseBytes(body); gjson.ValidBytes(body) && (page.IsArray() || page.Get("data").IsArray()) {
		a.isList = true
		for _, id := range page.Get("data.#.id").Array() {
			a.models = append(a.models, id.String())
		}
	}
	return a
}

// authorize puts a key where the upstream reads it.
func (p *patient) authorize(r *http.Request, base *url.URL, key string) {
	if strings.HasSuffix(base.Hostname(), "anthropic.com") {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	if key != "" {
		access.SetCredential(r.Header, access.Secret(key), false, access.Models)
	}
}

// fixOf returns what may mend that an upstream cannot be reached.
func fixOf(err error, place string) string {
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return "correct the name of the host in " + place + ", or the name service of this machine"
	case strings.Contains(apierror.Reason(err), "not https"):
		return "it speaks http, not https: correct " + place
	}
	return "start it, or correct " + place
}

func checkUpstreams(ctx context.Context, p *patient) (all []finding) {
	for _, u := range p.upstreams() {
		a, shown := p.list(ctx, u.url, u.key), config.ShownURL(u.url.String())
		whose := "OPENAI_API_KEY, the key of clients,"
		if u.own {
			whose = fmt.Sprintf("api_key of the row %q", u.match)
		}
		switch {
		case a.err != nil:
			all = append(all, finding{State: failure, Says: fmt.Sprintf("%s cannot be reached (%s)", shown, apierror.Reason(a.err)), Fix: fixOf(a.err, u.place)})
		case (a.status == http.StatusUnauthorized || a.status == http.StatusForbidden) && u.key == "":
			all = append(all, finding{State: warning, Says: shown + " wants a key, and there is none here to try", Fix: "set OPENAI_API_KEY where you run laconic doctor, or api_key in a row of models"})
		case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
			all = append(all, finding{State: failure, Says: fmt.Sprintf("%s refuses %s with %d", shown, whose, a.status), Fix: "correct " + strings.TrimSuffix(whose, ",") + " (it was sent as it is, without quotes or spaces)"})
		case a.status == http.StatusOK && a.isList:
			all = append(all, finding{State: fine, Says: fmt.Sprintf("%s answers, with %s", shown, count(len(a.models), "model"))})
		case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || a.status == http.StatusOK || a.status/100 == 3:
			f := finding{State: failure, Says: fmt.Sprintf("%s has no list of models (GET %s: %d)", shown, learn.ModelsURL(u.url).EscapedPath(), a.status), Fix: "correct the path of " + u.place + "; most servers have their API below /v1"}
			if right := p.rightPath(ctx, u); right != "" {
				f.Fix = u.place + ": " + right
			} else if a.status == http.StatusNotFound && strings.Contains(u.url.Path, "/v1") {
				f.State, f.Fix = warning, "nothing, if the upstream has chat completions without a list of models (--probe tries)"
			}
			all = append(all, f)
		default:
			all = append(all, finding{State: failure, Says: fmt.Sprintf("%s answers %d to GET /models", shown, a.status), Fix: "look at the log of the upstream"})
		}
	}
	return all
}

// rightPath returns the base URL below which an upstream has its list; "" if it is
// not found.
func (p *patient) rightPath(ctx context.Context, u upstreamOf) string {
	for _, path := range []string{"/v1", strings.TrimRight(u.url.Path, "/") + "/v1", "/api/v1"} {
		try := *u.url
		try.Path, try.RawPath = path, ""
		if path == strings.TrimRight(u.url.Path, "/") {
			continue
		}
		if a := p.list(ctx, &try, u.key); a.isList || a.status == http.StatusUnauthorized {
			return config.ShownURL(try.String())
		}
	}
	return ""
}

func checkClock(ctx context.Context, p *patient) []finding {
	for _, u := range p.upstreams() {
		at, err := http.ParseTime(p.list(ctx, u.url, u.key).date)
		if err != nil {
			continue
		}
		off := p.now().Sub(at).Round(time.Second)
		if off.Abs() > mostClock {
			return []finding{{State: warning, Says: fmt.Sprintf("the clock differs by %v from that of %s", off, u.url.Hostname()), Fix: "set the clock of this machine (timedatectl set-ntp true)"}}
		}
		return []finding{{State: fine, Says: "the clock agrees with that of " + u.url.Hostname()}}
	}
	return []finding{{State: unknown, Says: "no upstream told the time"}}
}

func checkWindows(ctx context.Context, p *patient) (all []finding) {
	agree := 0
	for _, u := range p.upstreams() {
		if learn.Silent(u.url) || p.list(ctx, u.url, u.key).err != nil {
			continue
		}
		asking, stop := context.WithTimeout(ctx, doctorTime)
		m := learn.New(learn.Options{Transport: p.client.Transport, Via: "laconic-doctor", Failed: func(any) {}})
		seen := m.Look(asking, learn.Upstream{URL: u.url, Header: func() http.Header {
			r := &http.Request{Header: http.Header{}}
			p.authorize(r, u.url, u.key)
			return r.Header
		}})
		stop()
		for _, model := range seen.Models {
			if small := why.Small(seen.Program, model, seen.Window(model)); small.Says != "" {
				all = append(all, finding{State: warning, Says: small.Says, Fix: small.Fix})
			}
		}
		models := append(seen.Models, namedModels(p.Config)...)
		slices.Sort(models)
		for _, model := range slices.Compact(models) {
			row, published := p.RowOf(model), seen.Window(model)
			if r := p.options.RouteFor(model); published == 0 || r.Upstream.String() != u.url.String() {
				continue
			}
			most, what := int(row.Window), "window"
			if row.Budget > most {
				most, what = row.Budget, "budget"
			}
			f := finding{
				State: failure, Says: fmt.Sprintf("%s: %s is %d, and the upstream runs it with %d", model, what, most, published),
				Fix: fmt.Sprintf("%s: %d in the row %q (window: auto asks for it), or start the server with more", what, published, row.Match),
			}
			switch {
			case most <= published:
				agree++
			case len(all) == 0 || all[len(all)-1].Says != f.Says:
				all = append(all, f)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	if agree > 0 {
		return []finding{{State: fine, Says: fmt.Sprintf("no row is above the windows that upstreams publish (%s)", count(agree, "model"))}}
	}
	return []finding{{State: unknown, Says: "no upstream publishes a window; laconic check --explain MODEL says which is taken"}}
}

// namedModels are the models that the configuration names without a pattern.
func namedModels(c *config.Config) (all []string) {
	for _, m := range c.Models {
		if !strings.Contains(m.Match, "*") {
			all = append(all, m.Match)
		}
	}
	return all
}

// probed returns the upstream and the model of a probe; "" for the model if none is
// known.
func (p *patient) probed(ctx context.Context) (u upstreamOf, model string) {
	model = cmp.Or(p.model, firstNamed(p.Config))
	for _, u = range p.upstreams() {
		if a := p.list(ctx, u.url, u.key); model == "" && len(a.models) > 0 {
			model = a.models[0]
		}
		if model != "" && p.options.RouteFor(model).Upstream.String() == u.url.String() {
			return u, model
		}
	}
	return u, ""
}
