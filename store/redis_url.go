package store

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// place is where a Redis is, as a URL says it.
type place struct {
	kind           string   // "": one server; sentinel, cluster
	hosts          []string // of one server also the path of its socket
	tls            bool
	user, password string
	db             int
	master         string // of sentinels
	// What sentinels themselves ask for.
	sentinelUser, sentinelPassword string
}

const (
	sentinels = "sentinel"
	cluster   = "cluster"
)

// errURL and its kin say what is wrong with a URL, and show nothing of it: it may hold
// a password.
var errURL = errors.New("the URL of the store is not one of Redis: redis://host:port/db, rediss:// for TLS, unix:///path, redis+sentinel://host,host/master/db, redis+cluster://host,host")

func wrongURL(what string) error { return fmt.Errorf("the URL of the store %s", what) }

// parseURL reads a URL. Schemes are redis, rediss for TLS, and unix; the first two
// with +sentinel or +cluster, then with a list of hosts; valkey is redis.
func parseURL(text string) (p place, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	scheme, p.kind, _ = strings.Cut(strings.ToLower(scheme), "+")
	p.tls = scheme == "rediss" || scheme == "valkeys"
	known := map[string]bool{"redis": true, "valkey": true, "rediss": true, "valkeys": true, "unix": p.kind == ""}
	if !known[scheme] || p.kind != "" && p.kind != sentinels && p.kind != cluster {
		return p, errURL
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if authority, err = p.credentials(authority); err != nil {
		return p, err
	}
	if scheme == "unix" {
		p.hosts, path = []string{"/" + path}, ""
	} else if err = p.list(authority); err != nil {
		return p, err
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return p, errURL
	}
	path = strings.TrimSuffix(path, "/")
	if p.kind == sentinels {
		p.sentinelUser, p.sentinelPassword = q.Get("sentinel_username"), q.Get("sentinel_password")
		q.Del("sentinel_username")
		q.Del("sentinel_password")
		var master string
		master, path, _ = strings.Cut(path, "/")
		if p.master, err = url.PathUnescape(master); err != nil || strings.Trim(p.master, "0123456789") == "" {
			return p, wrongURL("does not name the master that its sentinels watch, or has a number in its place: redis+sentinel://host,host/NAME/db")
		}
	}
	db := cmp.Or(path, q.Get("db"), "0")
	q.Del("db")
	if len(q) > 0 {
		return p, wrongURL("has a parameter that means nothing here: there are db and, of sentinels, sentinel_username and sentinel_password")
	}
	if p.db, err = strconv.Atoi(db); err != nil || p.db < 0 {
		return p, wrongURL("has a database that is no number: they are numbered from 0, as in redis://host/0")
	}
	if p.kind == cluster && p.db > 0 {
		return p, wrongURL("names a database, and a Cluster has none; store.prefix keeps two installations apart")
	}
	return p, nil
}

// credentials takes user and password from an authority, and returns its rest.
func (p *place) credentials(authority string) (rest string, err error) {
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return authority, nil
	}
	user, password, _ := strings.Cut(authority[:at], ":")
	var failed error
	p.user, err = url.PathUnescape(user)
	p.password, failed = url.PathUnescape(password)
	if err != nil || failed != nil {
		return "", wrongURL("has a password with a % that is not written as %25")
	}
	return authority[at+1:], nil
}

// list takes the hosts from an authority.
func (p *place) list(authority string) error {
	port := "6379"
	if p.kind == sentinels {
		port = "26379"
	}
	for host := range strings.SplitSeq(authority, ",") {
		h, n, err := net.SplitHostPort(host)
		if err != nil {
			if h, n, err = net.SplitHostPort(host + ":" + port); err != nil {
				return errURL
			}
		}
		if number, err := strconv.Atoi(n); err != nil || number < 1 || number > 65535 || h == "" {
			return wrongURL("has a host without a name, or with a port that is none")
		}
		p.hosts = append(p.hosts, net.JoinHostPort(h, n))
	}
	if p.kind == "" && len(p.hosts) > 1 {
		return wrongURL("names several hosts: redis+sentinel:// or redis+cluster:// says what they are")
	}
	return nil
}

// CheckURL says whether a URL is one that NewRedis takes, and whether it speaks TLS.
// The error does not show it.
func CheckURL(text string) (tls bool, err error) {
	p, err := parseURL(text)
	return p.tls, err
}

// CheckPrefix says whether a text can stand before the names of all values.
func CheckPrefix(prefix string) error {
	if len(prefix) > 64 || strings.Trim(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") != "" {
		return errors.New("the prefix has characters other than letters, digits and . _ : -, or more than 64")
	}
	return nil
}

// ShownURL returns a URL without what may be secret in it.
func ShownURL(text string) string {
	if _, err := parseURL(text); err != nil {
		return "?"
	}
	scheme, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}
