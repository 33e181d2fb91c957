package proxy

import (
	"slices"

	"laconic/proxy/access"
)

// settings are the options of a proxy, complete, and what is made of them. They
// never change. A request takes them once, at its start, and whatever it does later
// is done under the same.
type settings struct {
	Options
	guard    access.Guard
	keys     access.ClientKeys
	adminKey access.ClientKeys
	parted   bool // routes differ in where requests go, or with whose key
}

// newSettings returns the settings of valid options; mark is the proxy's own in Via.
func newSettings(o Options, mark string) *settings {
	o.Limits = o.Limits.withDefaults()
	s := &settings{
		Options: o,
		guard:   access.NewGuard(access.Loopback(o.Listen), o.AllowedOrigins, mark),
		keys:    access.HashKeys(o.ClientKeys),
	}
	if o.AdminToken != "" {
		s.adminKey = access.HashKeys([]access.Secret{o.AdminToken})
	}
	s.parted = slices.ContainsFunc(o.Routes, func(r *Route) bool { return !sameDestination(r, &s.Default) })
	return s
}
