package proxy

import (
	"errors"
	"fmt"
	"slices"

	"laconic/proxy/access"
	"laconic/proxy/operate"
)

// settings are the options of a proxy, complete, and what is made of them. They never
// change. A request takes them once, at its start, and keeps them to its end.
type settings struct {
	Options
	guard  access.Guard
	keys   access.ClientKeys
	parted bool // routes differ in where requests go, or with whose key
}

// newSettings returns the settings of valid options; mark is the proxy's own in Via.
func newSettings(o Options, mark string) *settings {
	s := &settings{
		Options: o,
		guard:   access.NewGuard(access.Loopback(o.Listen), o.AllowedOrigins, mark),
	}
	for _, k := range o.ClientKeys {
		s.keys = append(s.keys, access.HashKeys(k.Key)...)
	}
	s.parted = slices.ContainsFunc(o.Routes, func(r *Route) bool { return !sameDestination(r, &s.Default) })
	return s
}

// Reload puts other options in the place of those in force, or returns why they would
// give a key away and changes nothing. A request goes on under the options that it
// began under. Facts, counts, summaries and the state of upstreams stay.
//
// These are fixed when a proxy is made, and are not looked at: Listen, Certificate,
// Calibrate, Facts, Store, Summarizer, Listener, StartTrace, Transport, and of
// Limits all but StreamIdle, Drain and Shutdown.
func (p *Proxy) Reload(o Options) error {
	was := p.settings.Load()
	idle, drain, shutdown := o.Limits.StreamIdle, o.Limits.Drain, o.Limits.Shutdown
	o.Listen, o.Certificate, o.Calibrate, o.Facts = was.Listen, was.Certificate, was.Calibrate, was.Facts
	o.Store, o.Summarizer, o.Listener, o.StartTrace, o.Transport, o.Limits = was.Store, was.Summarizer, was.Listener, was.StartTrace, was.Transport, was.Limits
	o.Limits.StreamIdle, o.Limits.Drain, o.Limits.Shutdown = idle, drain, shutdown
	err := o.validate()
	if p.adminOpen.Load() && o.AdminToken == "" {
		err = errors.Join(err, errAdminOpen)
	}
	if err != nil {
		return err
	}
	p.settings.Store(newSettings(o, p.mark))
	return nil
}

// validate says what would give a key to those whom it is not for. Package config says
// all else that may be wrong with options, and where it is written.
func (o *Options) validate() error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	s := o.Summarizer
	keyed := s != nil && s.Key != ""
	for _, r := range append([]*Route{&o.Default}, o.Routes...) {
		if r.Key != "" {
			keyed = true
		} else if len(o.ClientKeys) > 0 {
			wrong("route %q needs an api_key: with client_keys the client's own key is never sent on", r.Match)
		}
	}
	switch open := !access.Loopback(o.Listen) && len(o.ClientKeys) == 0; {
	case len(o.ClientKeys) > 0 && s != nil && s.ClientCredential:
		wrong("the summarizer cannot have the client's credential: client keys go no further than the proxy")
	case open && keyed:
		wrong("listen %s is not loopback and an api_key is set: without client_keys everybody who reaches it could spend on that key", o.Listen)
	case open && o.Service != nil:
		wrong("listen %s is not loopback and the service is on: without client_keys everybody who reaches it could let it work", o.Listen)
	}
	return errors.Join(all...)
}

// Options returns the options in force.
func (p *Proxy) Options() Options { return p.settings.Load().Options }

// origins returns the origins of all upstreams of the settings.
func (s *settings) origins() map[string]bool {
	all := map[string]bool{operate.Origin(s.Default.Upstream): true}
	for _, r := range s.Routes {
		all[operate.Origin(r.Upstream)] = true
	}
	return all
}

var errAdminOpen = errors.New("the admin listener is not on loopback and has no token")
