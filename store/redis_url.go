package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
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

// What is wrong with the URL of one server as with that of many.
const (
	noPort      = "has a host without a name, or with a port that is none"
	noNumber    = "has a database that is no number: they are numbered from 0, as in redis://host/0"
	noParameter = "has a parameter that means nothing here: there are db, but not of a Cluster, and of sentinels sentinel_username and sentinel_password"
)

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535
}

// parseURL reads a URL. Schemes are redis, rediss for TLS, and unix; the first two
// with +sentinel or +cluster, then with a list of hosts; valkey is redis.
func parseURL(text string) (p place, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return p, errURL
	}
	scheme, p.kind, _ = strings.Cut(strings.ToLower(scheme), "+")
	switch scheme {
	case "redis", "valkey":
		scheme = "redis"
	case "rediss", "valkeys":
		scheme, p.tls = "rediss", true
	case "unix":
	default:
		return p, errURL
	}
	switch {
	case p.kind == "":
		return parseOne(scheme+"://"+rest, p)
	case scheme == "unix", p.kind != sentinels && p.kind != cluster:
		return p, errURL
	}
	return parseMany(rest, p)
}

// parseOne reads the URL of one server, as go-redis does.
func parseOne(text string, p place) (place, error) {
	if authority, _, _ := strings.Cut(text[strings.Index(text, "://")+3:], "/"); !strings.HasPrefix(text, "unix") && strings.Contains(authority[strings.LastIndex(authority, "@")+1:], ",") {
		return p, wrongURL("names several hosts: redis+sentinel:// or redis+cluster:// says what they are")
	}
	u, err := url.Parse(text)
	if err != nil {
		return p, errURL
	}
	for name := range u.Query() {
		if name != "db" {
			return p, wrongURL(noParameter)
		}
	}
	for _, db := range []string{strings.Trim(u.Path, "/"), u.Query().Get("db")} {
		if u.Scheme == "unix" && db != u.Query().Get("db") || db == "" {
			continue // the path is that of the socket
		}
		if n, err := strconv.Atoi(db); err != nil || n < 0 {
			return p, wrongURL(noNumber)
		}
	}
	if u.Port() != "" && !isPort(u.Port()) {
		return p, wrongURL(noPort)
	}
	o, err := redis.ParseURL(text)
	if err != nil {
		return p, errURL
	}
	p.hosts, p.user, p.password, p.db = []string{o.Addr}, o.Username, o.Password, o.DB
	return p, nil
}

// parseMany reads what follows the scheme where there are several hosts.
func parseMany(rest string, p place) (place, error) {
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	port := "6379"
	if p.kind == sentinels {
		port = "26379"
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		var err1, err2 error
		p.user, err1 = url.PathUnescape(user)
		p.password, err2 = url.PathUnescape(password)
		if err1 != nil || err2 != nil {
			return p, wrongURL("has a password with a % that is not written as %25")
		}
		authority = authority[at+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		h, n, err := net.SplitHostPort(host)
		if err != nil {
			if h, n, err = net.SplitHostPort(host + ":" + port); err != nil {
				return p, errURL
			}
		}
		if h == "" || !isPort(n) {
			return p, wrongURL(noPort)
		}
		p.hosts = append(p.hosts, net.JoinHostPort(h, n))
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return p, errURL
	}
	for name := range q {
		switch {
		case p.kind == sentinels && name == "sentinel_username":
			p.sentinelUser = q.Get(name)
		case p.kind == sentinels && name == "sentinel_password":
			p.sentinelPassword = q.Get(name)
		case p.kind == sentinels && name == "db" && strings.Count(path, "/") == 0:
			path += "/" + q.Get(name)
		default:
			return p, wrongURL(noParameter)
		}
	}
	path = strings.TrimSuffix(path, "/")
	if p.kind == cluster {
		if path != "" && path != "0" {
			return p, wrongURL("names a database, and a Cluster has none; store.prefix keeps two installations apart")
		}
		return p, nil
	}
	master, db, numbered := strings.Cut(path, "/")
	if p.master, err = url.PathUnescape(master); err != nil || p.master == "" {
		return p, wrongURL("does not name the master that its sentinels watch: redis+sentinel://host,host/NAME/db")
	}
	if strings.Trim(p.master, "0123456789") == "" {
		return p, wrongURL("has a number where the name of the master goes that its sentinels watch: redis+sentinel://host,host/NAME/db")
	}
	if numbered {
		if p.db, err = strconv.Atoi(db); err != nil || p.db < 0 {
			return p, wrongURL(noNumber)
		}
	}
	return p, nil
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
	p, err := parseURL(text)
	if err != nil {
		return "?"
	}
	if strings.HasPrefix(p.hosts[0], "/") {
		return "unix://" + p.hosts[0]
	}
	shown := "redis"
	if p.tls {
		shown += "s"
	}
	if p.kind != "" {
		shown += "+" + p.kind
	}
	shown += "://" + strings.Join(p.hosts, ",")
	if p.master != "" {
		shown += "/" + p.master
	}
	if p.kind != cluster {
		shown += "/" + strconv.Itoa(p.db)
	}
	return shown
}
