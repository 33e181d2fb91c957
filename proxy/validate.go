package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"laconic/proxy/access"
	"laconic/proxy/body"
)

// validate says everything that makes these options impossible, at once.
func (o *Options) validate() error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }

	routes := append([]*Route{&o.Default}, o.Routes...)
	keyed := o.Summarizer != nil && o.Summarizer.Key != ""
	for i, r := range routes {
		name := "the default route"
		if i > 0 {
			name = fmt.Sprintf("route %q", r.Match)
		}
		if r.Policy == nil || r.Counter == nil {
			wrong("%s has no policy or no counter", name)
		}
		if r.Mode != "" && !slices.Contains(modes, r.Mode) || r.MinBody < 0 {
			wrong("%s has a mode that is none, or a negative size", name)
		}
		if !slices.Contains([]string{"", SystemKeep, SystemFold, SystemAuto}, r.SystemMessages) {
			wrong("%s: system_messages is none of keep, fold and auto", name)
		}
		if err := access.CheckUpstream(r.Upstream); err != nil {
			wrong("%s: %w", name, err)
		} else if access.SameListener(r.Upstream, o.Listen) {
			wrong("%s: the upstream is the proxy's own address %s", name, o.Listen)
		}
		if r.Key != "" {
			keyed = true
		} else if len(o.ClientKeys) > 0 {
			wrong("%s needs an api_key: with client_keys the client's own key is never sent on", name)
		}
	}
	if keyed && !access.Loopback(o.Listen) && len(o.ClientKeys) == 0 {
		wrong("listen %s is not loopback and an api_key is set: without client_keys everybody who reaches it could spend on that key", o.Listen)
	}
	if o.Service != nil && !access.Loopback(o.Listen) && len(o.ClientKeys) == 0 {
		wrong("listen %s is not loopback and the service is on: without client_keys everybody who reaches it could let it work", o.Listen)
	}
	for i, k := range o.ClientKeys {
		if strings.TrimSpace(string(k)) == "" {
			wrong("client key %d is empty", i+1)
		}
	}
	if s := o.Summarizer; s != nil {
		for _, err := range s.Check(o.Listen, len(o.ClientKeys) > 0) {
			wrong("the summarizer: %w", err)
		}
	}
	for _, origin := range o.AllowedOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "") {
			wrong("allowed origin %q is not of the form https://host", origin)
		}
	}
	l := o.Limits
	if l.Body < 0 || l.Memory < 0 || l.Connections < 0 || l.Heads < 0 || l.Header < 0 || l.ResponseHeader < 0 || l.StreamIdle < 0 || l.Drain < 0 || l.Shutdown < 0 {
		wrong("a limit is negative")
	} else if l = l.withDefaults(); l.Body > l.Memory {
		wrong("limits.memory (%s) is below limits.body (%s)", body.Megabytes(l.Memory), body.Megabytes(l.Body))
	}
	return errors.Join(all...)
}
