package metrics

import (
	"cmp"
	"net/http"
	"strconv"

	"laconic/proxy"
)

// The routes of requests that no row of the configuration matched, and of those
// that were refused before there was a route. No pattern looks like them.
const (
	defaultRoute = "(default)"
	noRoute      = "(none)"
)

func routeLabel(match string) string { return cmp.Or(match, defaultRoute) }

// routeOf returns the route of a request.
func routeOf(i *proxy.ReplyInfo) string {
	if i.Rewrite == nil && i.Passed == "" {
		return noRoute
	}
	return routeLabel(i.Route)
}

// statusLabel returns a status that has a name as its number, any other as its
// class: upstreams may answer anything.
func statusLabel(code int) string {
	switch {
	case http.StatusText(code) != "", code == proxy.StatusClientLeft, code == 529: // Anthropic's 503
		return strconv.Itoa(code)
	case code >= 100 && code < 600:
		return strconv.Itoa(code/100) + "xx"
	}
	return other
}

// other stands for all values beyond the bound of a label.
const other = "other"
