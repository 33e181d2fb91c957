package store

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errURL and its kin say what is wrong with a URL, and show nothing of it: it may hold
// a password.
var errURL = errors.New("the URL of the store is not one of Redis: redis://host:port/db, rediss:// for TLS, unix:///path, redis+sentinel://host,host/master/db, redis+cluster://host,host")

func wrongURL(what string) error { return fmt.Errorf("the URL of the store %s", what) }

// parseURL reads a URL. Schemes are redis, rediss for TLS, and unix; the first two
// with +sentinel or +cluster, then with a list of hosts; valkey is redis.
func parseURL(text string) (o redis.UniversalOptions, secure bool, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	scheme, kind, _ := strings.Cut(strings.ToLower(scheme), "+")
	secure, o.IsClusterMode = scheme == "rediss" || scheme == "valkeys", kind == "cluster"
	known := map[string]bool{"redis": true, "valkey": true, "rediss": true, "valkeys": true, "unix": kind == ""}
	port, isKind := map[string]string{"": "6379", "cluster": "6379", "sentinel": "26379"}[kind]
	if !known[scheme] || !isKind {
		return o, false, errURL
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		var failed error
		o.Username, err = url.PathUnescape(user)
		o.Password, failed = url.PathUnescape(password)
		if err != nil || failed != nil {
			return o, false, wrongURL("has a password with a % that is not written as %25")
		}
		authority = authority[at+1:]
	}
	if scheme == "unix" {
		o.Addrs, path = []string{"/" + path}, ""
	} else if o.Addrs, err = hostsIn(authority, port); err != nil {
		return o, false, err
	}
	if kind == "" && len(o.Addrs) > 1 {
		return o, false, wrongURL("names several hosts: redis+sentinel:// or redis+cluster:// says what they are")
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return o, false, errURL
	}
	path = strings.TrimSuffix(path, "/")
	if kind == "sentinel" {
		o.SentinelUsername, o.SentinelPassword = q.Get("sentinel_username"), q.Get("sentinel_password")
		q.Del("sentinel_username")
		q.Del("sentinel_password")
		var master string
		master, path, _ = strings.Cut(path, "/")
		if o.MasterName, err = url.PathUnescape(master); err != nil || strings.Trim(o.MasterName, "0123456789") == "" {
			return o, false, wrongURL("does not name the master that its sentinels watch, or has a number in its place: redis+sentinel://host,host/NAME/db")
		}
	}
	db := cmp.Or(path, q.Get("db"), "0")
	q.Del("db")
	if len(q) > 0 {
		return o, false, wrongURL("has a parameter that means nothing here: there are db and, of sentinels, sentinel_username and sentinel_password")
	}
	if o.DB, err = strconv.Atoi(db); err != nil || o.DB < 0 {
		return o, false, wrongURL("has a database that is no number: they are numbered from 0, as in redis://host/0")
	}
	if o.IsClusterMode && o.DB > 0 {
		return o, false, wrongURL("names a database, and a Cluster has none; store.prefix keeps two installations apart")
	}
	return o, secure, nil
}

// hostsIn returns the hosts of a list, with a port where one has none.
func hostsIn(list, port string) (all []string, err error) {
	for host := range strings.SplitSeq(list, ",") {
		h, n, err := net.SplitHostPort(host)
		if err != nil {
			if h, n, err = net.SplitHostPort(host + ":" + port); err != nil {
				return nil, errURL
			}
		}
		if number, err := strconv.Atoi(n); err != nil || number < 1 || number > 65535 || h == "" {
			return nil, wrongURL("has a host without a name, or with a port that is none")
		}
		all = append(all, net.JoinHostPort(h, n))
	}
	return all, nil
}

// CheckURL says whether a URL is one that NewRedis takes, and whether it speaks TLS.
// The error does not show it.
func CheckURL(text string) (tls bool, err error) {
	_, tls, err = parseURL(text)
	return tls, err
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
	if _, _, err := parseURL(text); err != nil {
		return "?"
	}
	scheme, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}
