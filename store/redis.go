package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Redis is a store that several processes share: Redis or Valkey, one server, one
// that sentinels name, a Cluster, or a proxy in front of several. An answer may take
// Patience; after one that took longer, or did not come, the server is not asked for
// breakerDelay. In a Cluster, each server is left alone by itself.
type Redis struct {
	client   redis.UniversalClient
	prefix   string
	notice   func(string)
	wordless time.Duration // a constant but in tests

	operations, failed [counted]atomic.Uint64

	mu       sync.Mutex
	nodes    map[string]*node // by address; "" of what is no Cluster
	troubles map[trouble]failure
	noticed  string    // the last fault; "" while all is well
	since    time.Time // when the first of the faults was noticed that are not over
}

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
	to, secure, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	to.Username, to.Password = cmp.Or(o.Username, to.Username), cmp.Or(o.Password, to.Password)
	var secured *tls.Config
	if secure {
		if secured, err = o.TLS.Config(); err != nil {
			return nil, err
		}
	}
	quietClient()
	s := &Redis{prefix: cmp.Or(o.Prefix, DefaultPrefix) + keysVersion, notice: o.Notice, wordless: wordless, nodes: map[string]*node{}, troubles: map[trouble]failure{}}
	s.client = s.connect(&to, secured)
	return s, nil
}

// connect makes the client of one server, of the one that sentinels name, or of a
// Cluster.
//
// go-redis waits for its own timeouts, whatever the context says, unless told
// otherwise: a silent server held a caller of 100 ms for 5 s. It asks a Cluster again that
// refuses, up to three times, which may not take time either. The name of the client is
// not told: that is a round trip less, and Valkey or a proxy may not know how.
func (s *Redis) connect(o *redis.UniversalOptions, secured *tls.Config) redis.UniversalClient {
	o.ContextTimeoutEnabled, o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = true, Patience, Patience, Patience, Patience
	o.MaxRetries, o.MinRetryBackoff, o.DialerRetries, o.Protocol, o.DisableIdentity = -1, -1, 1, 2, true
	o.PoolSize = 16 // to each server
	// Only one vendor's servers know notifications.
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if secured != nil {
		o.Dialer = dialer(secured)
	}
	client := redis.NewUniversalClient(o)
	if c, many := client.(*redis.ClusterClient); many {
		c.OnNewNode(func(node *redis.Client) { s.watch(node, node.Options().Addr) })
	} else {
		s.watch(client, "")
	}
	return client
}

// quietClient keeps the client from writing to stderr: its lines hold
// addresses, and the operator gets one of ours.
var quietClient = sync.OnceFunc(logging.Disable)

// Get returns the value of a key. It asks for a range, so that a value that
// somebody else made too large is not read whole.
func (s *Redis) Get(ctx context.Context, k Key) (value []byte, err error) {
	name := s.named(k)
	err = s.ask(ctx, reading, func(ctx context.Context) (err error) {
		value, err = s.client.GetRange(ctx, name, 0, MaxValue+overhead).Bytes()
		return err
	})
	if err == nil && len(value) == 0 {
		return nil, ErrMiss
	}
	return value, err
}

// Put stores a value.
func (s *Redis) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	if ttl < time.Millisecond {
		return nil
	}
	name := s.named(k)
	return s.ask(ctx, writing, func(ctx context.Context) error { return s.client.Set(ctx, name, value, ttl).Err() })
}

// scanned is how many names a server looks at in one step. At some millions of
// names a second that is far below Patience.
const scanned = 2000

// DeleteGroup removes the values of a group. It looks at all names of each server,
// step by step, each within Patience. Locks end by themselves.
func (s *Redis) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	var all atomic.Int64
	if c, many := s.client.(*redis.ClusterClient); many {
		// ForEachMaster asks for the masters as part of no operation.
		if err := s.ask(ctx, erasing, func(ctx context.Context) error {
			_, err := c.MasterForKey(ctx, s.namedGroup(g))
			return err
		}); err != nil {
			return 0, err
		}
		err = c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return s.deleteFrom(ctx, c, g, &all) })
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
	err = s.ask(ctx, locking, func(ctx context.Context) (err error) {
		ok, err = s.client.SetNX(ctx, name, token, ttl).Result()
		return err
	})
	if !ok {
		return func() {}, false, err
	}
	return sync.OnceFunc(func() {
		// The caller's own time may be over; the lock is given back all the
		// same, and ends by itself where that fails.
		ctx := context.WithoutCancel(ctx)
		_ = s.ask(ctx, locking, func(ctx context.Context) error { return unlock.Eval(ctx, s.client, []string{name}, token).Err() })
	}), true, nil
}

// Close ends the connections.
func (s *Redis) Close() { _ = s.client.Close() }

// A name begins with the group, by which its values are found. The braces hold what
// decides where a Cluster keeps it: a partition has one place, with its locks.
func (s *Redis) named(k Key) string {
	text := base64.RawURLEncoding.EncodeToString
	return s.namedGroup(k.Group()) + "{" + text(k[groupBytes:groupBytes+partitionBytes]) + "}:" + text(k[groupBytes+partitionBytes:])
}

// namedGroup is what the names of a group's values begin with. It has none of the
// characters that mean something in a pattern.
func (s *Redis) namedGroup(g Group) string {
	return s.prefix + base64.RawURLEncoding.EncodeToString(g[:]) + ":"
}

const lockSuffix = ":lock"
