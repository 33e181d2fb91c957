package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Redis is a store that several processes share: Redis or Valkey, one server, one
// that sentinels name, a Cluster, or a proxy in front of several. An answer may take
// Patience; where it takes longer, or there is none, the store is not asked for
// breakerDelay.
type Redis struct {
	client  redis.UniversalClient
	prefix  string
	breaker circuitbreaker.CircuitBreaker[any]
	notice  func(string)
	// wordless is a constant but in tests.
	wordless time.Duration
	traffic  traffic

	mu      sync.Mutex
	silent  string        // why it does not answer; "" while it does
	refuses [kinds]string // what it refuses to do
	told    string        // the last fault told; "" while all is well
}

// A server may refuse one kind of request and do the others: a replica can be
// read, a full one releases locks.
const (
	reading = iota
	writing
	locking
	erasing
	calling
	hearing
	kinds
)

// breakerDelay is how long a store that does not answer is left alone. Then one
// request asks it again.
const breakerDelay = 5 * time.Second

// DefaultPrefix is in front of every name. keysVersion follows it, the version of keys and
// locks. A release that writes either otherwise raises it, so that processes of both
// versions can share a server.
const (
	DefaultPrefix = "laconic:"
	keysVersion   = "2:"
)

// NewRedis makes a store at the URL of o, with its prefix, credentials and files for
// TLS. It connects when it is asked first.
func NewRedis(o Options) (*Redis, error) {
	p, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if err := CheckPrefix(o.Prefix); err != nil {
		return nil, err
	}
	p.user, p.password = cmp.Or(o.Username, p.user), cmp.Or(o.Password, p.password)
	var secured *tls.Config
	if p.tls {
		if secured, err = o.TLS.Config(); err != nil {
			return nil, err
		}
	} else if o.TLS != (TLSFiles{}) {
		return nil, wrongURL("does not speak TLS (rediss://), but files for it are named")
	}
	quietClient()
	s := &Redis{prefix: cmp.Or(o.Prefix, DefaultPrefix) + keysVersion, notice: o.Notice, wordless: wordless}
	if s.notice == nil {
		s.notice = func(string) {}
	}
	s.client = s.connect(&p, secured)
	s.breaker = circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithDelay(breakerDelay).Build()
	return s, nil
}

// connect makes the client of a place.
//
// go-redis waits for its own timeouts, whatever the context says, unless told
// otherwise: a silent server held a caller of 100 ms for 5 s. The name of the client is
// not told: that is a round trip less, and Valkey or a proxy may not know how.
func (s *Redis) connect(p *place, secured *tls.Config) redis.UniversalClient {
	const connections = 16 // to each server
	dial := s.traffic.dialer(secured)
	switch p.kind {
	case sentinels:
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: p.master, SentinelAddrs: p.hosts, SentinelUsername: p.sentinelUser, SentinelPassword: p.sentinelPassword,
			Username: p.user, Password: p.password, DB: p.db, Dialer: dial,
			ContextTimeoutEnabled: true, DialTimeout: Patience, ReadTimeout: Patience, WriteTimeout: Patience, PoolTimeout: Patience,
			MaxRetries: -1, DialerRetries: 1, PoolSize: connections, Protocol: 2, DisableIdentity: true,
		})
	case cluster:
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: p.hosts, Username: p.user, Password: p.password, Dialer: dial,
			ContextTimeoutEnabled: true, DialTimeout: Patience, ReadTimeout: Patience, WriteTimeout: Patience, PoolTimeout: Patience,
			MaxRetries: -1, DialerRetries: 1, PoolSize: connections, Protocol: 2, DisableIdentity: true,
			MaintNotificationsConfig: noNotifications,
		})
	}
	return redis.NewClient(&redis.Options{
		Network: p.network, Addr: p.hosts[0], Username: p.user, Password: p.password, DB: p.db, Dialer: dial,
		ContextTimeoutEnabled: true, DialTimeout: Patience, ReadTimeout: Patience, WriteTimeout: Patience, PoolTimeout: Patience,
		MaxRetries: -1, DialerRetries: 1, PoolSize: connections, Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: noNotifications,
	})
}

// noNotifications: only one vendor's servers know them.
var noNotifications = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

// quietClient keeps the client from writing to stderr: its lines hold
// addresses, and the operator gets one of ours.
var quietClient = sync.OnceFunc(logging.Disable)

// Get returns the value of a key. It asks for a range, so that a value that
// somebody else made too large is not read whole.
func (s *Redis) Get(ctx context.Context, k Key) (value []byte, err error) {
	err = s.ask(ctx, reading, func(ctx context.Context) (err error) {
		value, err = s.client.GetRange(ctx, s.named(k), 0, MaxValue+overhead).Bytes()
		return err
	})
	if err == nil && len(value) == 0 {
		return nil, ErrMiss
	}
	return value, err
}

// Put stores a value.
func (s *Redis) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	if len(value) > MaxValue+overhead {
		return ErrLarge
	}
	if ttl < time.Millisecond {
		return nil
	}
	return s.ask(ctx, writing, func(ctx context.Context) error { return s.client.Set(ctx, s.named(k), value, ttl).Err() })
}

// scanned is how many names a server looks at in one step. At some millions of
// names a second that is far below Patience.
const scanned = 2000

// DeleteGroup removes the values of a group. It looks at all names of each server,
// step by step, each within Patience. Locks end by themselves.
func (s *Redis) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	var all atomic.Int64
	if c, many := s.client.(*redis.ClusterClient); many {
		// That there is no answer is told by a question that is counted.
		if err = s.ask(ctx, erasing, func(ctx context.Context) error { return c.Ping(ctx).Err() }); err == nil {
			err = c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return s.deleteFrom(ctx, c, g, &all) })
		}
	} else {
		err = s.deleteFrom(ctx, s.client, g, &all)
	}
	return int(all.Load()), err
}

// deleteFrom removes the values of a group from one server.
func (s *Redis) deleteFrom(ctx context.Context, c redis.Cmdable, g Group, n *atomic.Int64) error {
	var cursor uint64
	for {
		var names []string
		if err := s.ask(ctx, erasing, func(ctx context.Context) (err error) {
			names, cursor, err = c.Scan(ctx, cursor, s.namedGroup(g)+"*", scanned).Result()
			return err
		}); err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, lockSuffix) })
		for _, name := range names { // one by one: of a Cluster's names, each may be in a slot of its own
			if err := s.ask(ctx, erasing, func(ctx context.Context) error {
				gone, err := c.Unlink(ctx, name).Result()
				n.Add(gone)
				return err
			}); err != nil {
				return err
			}
		}
		if cursor == 0 {
			return nil
		}
	}
}

// unlock removes a lock only if it is still the caller's.
var unlock = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// Lock takes the lock of a key.
func (s *Redis) Lock(ctx context.Context, k Key, ttl time.Duration) (release func(), ok bool, err error) {
	name, token := s.named(k)+lockSuffix, rand.Text()
	err = s.ask(ctx, locking, func(ctx context.Context) error {
		reply, err := s.client.SetArgs(ctx, name, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Result()
		ok = reply == "OK"
		return err
	})
	if err != nil && err != redis.Nil {
		return func() {}, false, err
	}
	if !ok {
		return func() {}, false, nil
	}
	return sync.OnceFunc(func() {
		// The caller's own time may be over; the lock is given back all the
		// same, and ends by itself where that fails.
		ctx := context.WithoutCancel(ctx)
		_ = s.ask(ctx, locking, func(ctx context.Context) error { return unlock.Run(ctx, s.client, []string{name}, token).Err() })
	}), true, nil
}

// Close ends the connections.
func (s *Redis) Close() { _ = s.client.Close() }

// ask does one thing with the server, within Patience.
func (s *Redis) ask(ctx context.Context, kind int, f func(context.Context) error) error {
	err := s.tried(ctx, kind, f)
	if err != nil && err != redis.Nil && err != ErrAbsent { // which nobody was asked for
		s.traffic.failed[kind].Add(1)
	}
	return err
}

// tried is ask without its count.
func (s *Redis) tried(ctx context.Context, kind int, f func(context.Context) error) error {
	if !s.breaker.TryAcquirePermit() {
		return ErrAbsent
	}
	s.traffic.operations[kind].Add(1)
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := f(within)
	var reply redis.Error
	switch {
	case err == nil, err == redis.Nil: // as it is: sentinels that do not know a master wrap it
		s.breaker.RecordSuccess()
		s.answered(kind, "")
	case errors.Is(err, redis.Nil):
		s.breaker.RecordFailure()
		s.silence("the store does not answer: no sentinel knows the master")
	case errors.As(err, &reply):
		// It answers at once, only not what we want: nobody waits for it.
		s.breaker.RecordSuccess()
		s.answered(kind, "the store refuses: "+codeOf(reply.Error()))
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		s.breaker.RecordSuccess() // the caller left; that says nothing of the store
	default:
		s.breaker.RecordFailure()
		s.silence("the store does not answer: " + networkFault(err))
	}
	return err
}

// answered notes an answer to a kind of request; refused is "" where it was done.
// Only that takes back a refusal: nothing else says that it would be done now.
func (s *Redis) answered(kind int, refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent, s.refuses[kind] = "", refused
	s.tell()
}

// silence notes that there was no answer.
func (s *Redis) silence(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = why
	s.tell()
}

// tell tells a change of state, once.
func (s *Redis) tell() {
	fault := cmp.Or(s.silent, s.refuses[writing], s.refuses[locking], s.refuses[reading], s.refuses[erasing], s.refuses[calling], s.refuses[hearing])
	if fault == s.told {
		return
	}
	s.told = fault
	s.notice(cmp.Or(fault, "the store answers again"))
}

// codeOf is the first word of an error reply, as in READONLY or NOAUTH. The
// rest may hold names.
func codeOf(reply string) string {
	word, _, _ := strings.Cut(reply, " ")
	if word == "" || len(word) > 20 || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "ERR"
	}
	return word
}

// networkFault says in a few words why there was no answer, without addresses.
func networkFault(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return "its certificate is not trusted"
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &op) && op.Timeout(), errors.Is(err, redis.ErrPoolTimeout):
		return "no answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	case errors.Is(err, io.EOF):
		return "the connection was closed"
	}
	return "the answer was not understood"
}

// A name begins with the group, by which its values are found. The braces hold what
// decides where a Cluster keeps it: a record has one place, with its locks.
func (s *Redis) named(k Key) string {
	text := base64.RawURLEncoding.EncodeToString
	return s.namedGroup(k.Group()) + "{" + text(k[groupBytes:groupBytes+recordBytes]) + "}:" + text(k[groupBytes+recordBytes:])
}

// namedGroup is what the names of a group's values begin with. It has none of the
// characters that mean something in a pattern.
func (s *Redis) namedGroup(g Group) string {
	return s.prefix + base64.RawURLEncoding.EncodeToString(g[:]) + ":"
}

const lockSuffix = ":lock"
