package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"laconic/proxy/access"
	"laconic/store"
)

// addresses checks where we listen, where requests go, and that the two are not
// the same.
func (ch *checking) addresses() {
	if !isAddress(ch.Listen) {
		ch.at("listen", "listen must be host:port", "such as 127.0.0.1:7280")
	}
	if ch.Admin != "" {
		if !isAddress(ch.Admin) {
			ch.at("admin", "admin must be host:port", "such as 127.0.0.1:7281, or off")
		} else if access.SameListener(&url.URL{Scheme: "http", Host: ch.Admin}, ch.Listen) {
			ch.at("admin", "admin and listen are the same address", "give admin another port, or turn it off", "listen")
		}
	}
	ch.upstream("upstream", ch.Upstream)
	for i, m := range ch.Models {
		if at := fmt.Sprintf("models[%d].upstream", i); ch.Has(at) {
			ch.upstream(at, m.Upstream)
		}
	}
	for i, o := range ch.AllowedOrigins {
		if o != "*" && !isOrigin(o) {
			at := fmt.Sprintf("allowed_origins[%d]", i)
			ch.at(at, at+" is not an origin", `an origin is scheme://host or scheme://host:port, such as https://app.example.com, or "*" for all`)
		}
	}
}

// upstream checks the URL of an upstream.
func (ch *checking) upstream(path, text string) {
	u, err := ParseUpstream(text)
	if err != nil {
		message, hint, _ := strings.Cut(err.Error(), "; ")
		ch.at(path, path+" "+message, hint)
		return
	}
	for _, own := range []struct{ path, addr string }{{"listen", ch.Listen}, {"admin", ch.Admin}} {
		if own.addr != "" && access.SameListener(u, own.addr) {
			ch.at(path, path+" is this proxy itself: "+own.path+" is the same address", "requests would go round for ever", own.path)
		}
	}
}

// isAddress reports whether a text is an address to listen on.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil && !strings.ContainsFunc(host, func(r rune) bool { return unicode.IsSpace(r) || r == '/' || r == '@' })
}

// ParseUpstream reads a base URL, which replaces the client's /v1. An error may
// go on with a hint after "; ".
func ParseUpstream(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsFunc(u.Host, unicode.IsSpace):
		return nil, errors.New("must be a URL that begins with http:// or https://; such as https://api.openai.com/v1")
	case u.User != nil:
		return nil, errors.New("holds a user name or password; a credential belongs in api_key of a row of models")
	case strings.Contains(text, "#") || dotSegments.MatchString(u.Path) || strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return nil, errors.New("must be only the part in front of /chat/completions; such as https://api.openai.com/v1")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, errors.New("has a port that is not a number from 1 to 65535")
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// dotSegments could lead out of the upstream's path, under any reading.
var dotSegments = regexp.MustCompile(`(?:^|[/\\])\.\.?(?:[/\\;]|$)`)

// isOrigin reports whether a text is what a browser sends as Origin. Schemes other
// than http are those of extensions and desktop shells.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.Scheme+"://"+u.Host == text && !strings.ContainsAny(text, "*#")
}

// keys checks whose key goes where: no credential may reach an origin that its
// owner did not name, and nobody who only reaches the listener may spend a key of
// ours.
func (ch *checking) keys() {
	top, _ := ParseUpstream(ch.Upstream)
	everything, open := false, ch.open
	for i, m := range ch.Models {
		path := fmt.Sprintf("models[%d]", i)
		everything = everything || m.Everything()
		keyed := ch.Has(path + ".api_key")
		if keyed {
			ch.header(path+".api_key", m.APIKey)
			if open && !ch.clientKeys {
				open = false // said once
				ch.openKey(path, "")
			}
			if m.Credential != "" {
				ch.at(path+".credential", path+" has both an api_key and a credential", "credential: client sends the client's key; remove one of the two")
			}
			continue
		}
		u, err := ParseUpstream(m.Upstream)
		if err == nil && top != nil && !access.SameOrigin(u, top) && !ch.broken("upstream") && !ch.Has(path+".credential") {
			ch.at(path+".upstream", path+" sends to another origin than upstream, so it needs an api_key of its own",
				"credential: client would send the client's key there, too")
		}
		if ch.clientKeys {
			ch.at(path, path+" needs an api_key: with client_keys the client's own key goes no further than this proxy",
				"an upstream that needs no key takes any text")
		}
	}
	if ch.Service && ch.open && !ch.clientKeys {
		ch.at("service", "service is on and listen is open to other machines, so everyone who gets here could use it",
			"set client_keys, or listen on 127.0.0.1")
	}
	if ch.clientKeys && !everything {
		ch.note("client_keys", "client_keys needs a last row in models that matches everything and has an api_key",
			`requests for other models, and for the list of models, would have no key: - {match: "*", api_key: ...}`)
	}
	for i, k := range ch.ClientKeys {
		ch.entry(fmt.Sprintf("client_keys[%d]", i), k)
	}
	if ch.Has("admin_token") {
		ch.entry("admin_token", ch.AdminToken)
	} else if ch.Admin != "" && isAddress(ch.Admin) && !access.Loopback(ch.Admin) {
		ch.at("admin", "admin is open to other machines, so it needs an admin_token", "or listen on 127.0.0.1")
		if ch.Has("capture.size") {
			ch.at("capture.size", "capture.size keeps texts of requests, which everybody who reaches admin could read", "set admin_token", "admin")
		}
	}
}

// openKey notes that everyone who reaches the listener could spend the api_key of
// a row or of the summarizer.
func (ch *checking) openKey(owner, remedy string) {
	ch.at("listen", "listen is open to other machines and "+owner+" has an api_key, which everyone who gets here could spend",
		"set client_keys, or "+remedy+"listen on 127.0.0.1", owner+".api_key")
}

// entry checks a secret that lets somebody in: nobody counts the tries.
func (ch *checking) entry(path string, secret access.Secret) {
	if ch.header(path, secret) {
		ch.long(path, secret)
	}
}

// leastDifferent is how many different characters a secret has at least.
const leastDifferent = 6

// long checks that a secret cannot be found by trying.
func (ch *checking) long(path string, secret access.Secret) {
	different := map[rune]bool{}
	for _, c := range string(secret) {
		different[c] = true
	}
	if len(secret) < store.ShortestSecret || len(different) < leastDifferent {
		ch.at(path, fmt.Sprintf("%s is shorter than %d characters, or has fewer than %d different ones", path, store.ShortestSecret, leastDifferent), "openssl rand -hex 32 makes a good one")
	}
}

// header reports whether an HTTP header can carry a secret, and notes a problem if not.
func (ch *checking) header(path string, secret access.Secret) bool {
	text := string(secret)
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7F }) {
		return true
	}
	ch.at(path, path+" is empty, or holds white space or a character that no HTTP header can carry", "")
	return false
}
