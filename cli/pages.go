package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"go.uber.org/zap"

	"laconic/cli/runlog"
	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/operate"
	"laconic/proxy/page"
	"laconic/proxy/summarize"
	"laconic/store"
)

// newPage returns the page of the admin listener; nil where it is off. now is the
// configuration in force, p the proxy, once there is one, stored what was found of the store,
// and found all that was found.
func newPage(now func() *config.Config, p func() *proxy.Proxy, stored, found func() []finding) *page.Page {
	c := now()
	if !c.Page || c.Admin == "" {
		return nil
	}
	replica := ""
	if c.Store.Kind == store.InRedis {
		replica, _ = os.Hostname()
	}
	return page.New(page.Options{
		Version:  version(),
		Replica:  replica,
		Capture:  int(c.Capture.Size),
		Settings: func() string { return description(now()) },
		Store:    stored,
		Findings: found,
		Proxy:    func() page.Proxy { return p() },
	})
}

// clientKeys returns the client keys: each with the variable that holds it, else its
// place in the file, as its name, and the quota of the first row that matches that.
func clientKeys(c *config.Config) (all []proxy.ClientKey) {
	for i, key := range c.ClientKeys {
		path := fmt.Sprintf("client_keys[%d]", i)
		k := proxy.ClientKey{Key: key, Name: cmp.Or(c.Variable(path), path)}
		n := slices.IndexFunc(c.ClientLimits, func(row config.ClientLimit) bool { return config.Pattern(row.Match).Matches(k.Name) })
		if n >= 0 {
			row := &c.ClientLimits[n]
			k.Quota = proxy.Quota{RequestsPerMinute: row.RequestsPerMinute, TokensPerMinute: row.TokensPerMinute, TokensPerDay: row.TokensPerDay}
		}
		all = append(all, k)
	}
	return all
}

// longestForm bounds what names a client, in bytes. The admin listener bounds the time
// to send it.
const longestForm = 64 << 10

// eraser is the page that erases the summaries of the client that a form names, by client or
// by credential, and drops its captured texts. Its answer and its log name a client as the
// configuration does, and show no credential. shown is nil where there is no page.
func eraser(p *proxy.Proxy, shown *page.Page, log *runlog.Log) operate.Page {
	erase := func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, longestForm)
		if r.ParseForm() != nil || len(r.URL.RawQuery) > 0 {
			operate.Say(w, http.StatusBadRequest, "The client is named in the body, as in client=NAME or credential=KEY: addresses are logged on their way.\n")
			return
		}
		client, credential := r.PostForm.Get("client"), r.PostForm.Get("credential")
		var n int
		var err error
		whose := cmp.Or(client, "this credential")
		switch {
		case len(r.PostForm["client"])+len(r.PostForm["credential"]) != 1:
			operate.Say(w, http.StatusBadRequest, "Whose summaries? The body is client=NAME or credential=KEY.\n")
			return
		case client != "":
			n, err = p.EraseClient(r.Context(), client)
		default:
			n, err = p.Erase(r.Context(), access.Secret(credential))
		}
		if errors.Is(err, proxy.ErrNoClient) {
			operate.Say(w, http.StatusNotFound, "No client key has this name.\n")
			return
		}
		if shown != nil {
			shown.Forget(client)
		}
		fields := []zap.Field{zap.String("client", whose), zap.Int("summaries", n)}
		done := fmt.Sprintf("%s of %s erased", number.Count(n, "stored summary"), whose)
		switch {
		case errors.Is(err, summarize.ErrUnheard):
			log.Warn("summaries were erased, and the other replicas could not be told", fields...)
			operate.Say(w, http.StatusBadGateway, done+", but the other replicas could not be told: ask each of them itself. /readyz?verbose says why.\n")
		case err != nil:
			log.Warn("summaries were not all erased: the store failed", fields...)
			operate.Say(w, http.StatusServiceUnavailable, "The store failed: "+done+", some may be left. Ask again when it answers.\n")
		default:
			log.Always("summaries were erased", fields...)
			operate.Say(w, http.StatusOK, done+"\n")
		}
	}
	return operate.Page{Path: "/erase", Methods: []string{http.MethodPost}, Browser: true, Handler: http.HandlerFunc(erase)}
}
