package cli

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"laconic/config"
	"laconic/proxy"
	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/page"
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
	if store.Kind(c.Store.Kind) == store.InRedis {
		replica, _ = os.Hostname()
	}
	return page.New(page.Options{
		Version:   version(),
		Replica:   replica,
		Capture:   int(c.Capture.Size),
		Settings:  func() string { return description(now()) },
		Upstreams: func() []operate.Upstream { return p().State().Upstreams },
		Models:    func() []learn.Known { return p().LearntModels() },
		Store:     stored,
		Findings:  found,
		Asks:      func() bool { return p().AsksForToken() },
		Enter:     func(w http.ResponseWriter, r *http.Request, token string) bool { return p().SignIn(w, r, token) },
		Leave:     func(w http.ResponseWriter) { p().SignOut(w) },
	})
}

// keyNames returns the names of client keys: the variable that holds a key, else
// its place in the file.
func keyNames(c *config.Config) (names []string) {
	for i := range c.ClientKeys {
		path := fmt.Sprintf("client_keys[%d]", i)
		name := strings.Trim(c.Variable(path), `"'${}`)
		if name == "" {
			name = path
		}
		names = append(names, name)
	}
	return names
}

// quotas returns what gives the holder of a client key its quota by the key's name: that
// of the first row that matches.
func quotas(c *config.Config) func(name string) proxy.Quota {
	of := map[string]proxy.Quota{}
	for _, name := range keyNames(c) {
		i := slices.IndexFunc(c.ClientLimits, func(row config.ClientLimit) bool { return config.CompilePattern(row.Match).Matches(name) })
		if i >= 0 {
			row := &c.ClientLimits[i]
			of[name] = proxy.Quota{RequestsPerMinute: row.RequestsPerMinute, TokensPerMinute: row.TokensPerMinute, TokensPerDay: row.TokensPerDay}
		}
	}
	return func(name string) proxy.Quota { return of[name] }
}
