package cli

import (
	"fmt"
	"net/http"
	"strings"

	"laconic/config"
	"laconic/proxy"
	"laconic/proxy/page"
)

// newPage returns the page of the admin listener; nil where it is off. now is the
// configuration in force, p the proxy, once there is one.
func newPage(now func() *config.Config, p func() *proxy.Proxy) *page.Page {
	c := now()
	if !c.Page || c.Admin == "" {
		return nil
	}
	var of *config.Config
	var prices []page.Price
	return page.New(page.Options{
		Version: version(),
		Capture: int(c.Capture.Size),
		Prices: func() []page.Price { // the page asks from one goroutine at a time
			if c := now(); c != of {
				of, prices = c, pricesOf(c)
			}
			return prices
		},
		Settings:  func() []page.Setting { return settingsShown(now()) },
		Upstreams: func() []proxy.UpstreamState { return p().State().Upstreams },
		Models:    func() []proxy.LearntModel { return p().LearntModels() },
		Asks:      func() bool { return p().AsksForToken() },
		Enter:     func(w http.ResponseWriter, token string) bool { return p().SignIn(w, token) },
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

func pricesOf(c *config.Config) (prices []page.Price) {
	for _, row := range c.Prices {
		prices = append(prices, page.Price{
			Matches: config.CompilePattern(row.Match).Matches, Input: row.Input, Cached: row.Cached, Output: row.Output,
		})
	}
	return prices
}

func settingsShown(c *config.Config) (all []page.Setting) {
	for _, s := range c.Settings() {
		all = append(all, page.Setting(s))
	}
	return all
}
