package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Redis is a store that several processes share: Redis or Valkey, one node, or
// a proxy in front of several. An answer may take Patience; where it takes
// longer, or there is none, the store is not asked for breakerDelay.
type Redis struct {
	client  *redis.Client
	breaker circuitbreaker.CircuitBreaker[any]
	notice  func(string)
	// wordless is a constant but in tests.
	wordless time.Duration

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
	calling
	hearing
	kinds
)

// breakerDelay is how long a store that does not answer is left alone. Then one
// request asks it again.
const breakerDelay = 5 * time.Second

// prefix is in front of every key, with the version of keys and locks. A release
// that writes either otherwise raises it, so that processes of both versions can
// share a server.
const prefix = "laconic:2:"

// NewRedis makes a store at a URL: redis://user:password@host:port/db, rediss://
// for TLS, unix:///path. It connects when it is asked first. notice is told
// when the store fails, and when it is back; nil: nobody.
func NewRedis(url string, notice func(string)) (*Redis, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, errURL
	}
	if notice == nil {
		notice = func(string) {}
	}
	quietClient()
	// go-redis waits for its own timeouts, whatever the context says, unless
	// told otherwise: a silent server held a caller of 100 ms for 5 s.
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = Patience, Patience, Patience, Patience
	o.MaxRetries, o.DialerRetries = -1, 1
	o.PoolSize, o.MinIdleConns = 16, 0
	o.Protocol = 2
	o.DisableIdentity = true // one round trip less, and Valkey or a proxy may not know it
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s := &Redis{client: redis.NewClient(o), notice: notice, wordless: wordless}
	s.breaker = circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithDelay(breakerDelay).Build()
	return s, nil
}

// CheckURL says whether a URL is one that NewRedis takes. The error does not
// show it.
func CheckURL(url string) error {
	if _, err := redis.ParseURL(url); err != nil {
		return errURL
	}
	return nil
}

// The client's own text may hold the URL, and with it a password.
var errURL = errors.New("the URL of the store is not one of Redis: redis://host:port/db")

// quietClient keeps the client from writing to stderr: its lines hold
// addresses, and the operator gets one of ours.
var quietClient = sync.OnceFunc(logging.Disable)

// Get returns the value of a key. It asks for a range, so that a value that
// somebody else made too large is not read whole.
func (s *Redis) Get(ctx context.Context, k Key) (value []byte, err error) {
	err = s.ask(ctx, reading, func(ctx context.Context) (err error) {
		value, err = s.client.GetRange(ctx, named(k), 0, MaxValue+overhead).Bytes()
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
	return s.ask(ctx, writing, func(ctx context.Context) error { return s.client.Set(ctx, named(k), value, ttl).Err() })
}

// scanned is how many names a server looks at in one step. At some millions of
// names a second that is far below Patience.
const scanned = 2000

// DeleteGroup removes the values of a group. It looks at all names of the server,
// step by step, each within Patience. Locks end by themselves.
func (s *Redis) DeleteGroup(ctx context.Context, g Group) (n int, err error) {
	var cursor uint64
	for {
		var names []string
		if err := s.ask(ctx, reading, func(ctx context.Context) (err error) {
			names, cursor, err = s.client.Scan(ctx, cursor, namedGroup(g)+"*", scanned).Result()
			return err
		}); err != nil {
			return n, err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, lockSuffix) })
		for _, name := range names {
			if err := s.ask(ctx, writing, func(ctx context.Context) error {
				gone, err := s.client.Unlink(ctx, name).Result()
				n += int(gone)
				return err
			}); err != nil {
				return n, err
			}
		}
		if cursor == 0 {
			return n, nil
		}
	}
}

// unlock removes a lock only if it is still the caller's.
var unlock = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// Lock takes the lock of a key.
func (s *Redis) Lock(ctx context.Context, k Key, ttl time.Duration) (release func(), ok bool, err error) {
	name, token := named(k)+lockSuffix, rand.Text()
	err = s.ask(ctx, locking, func(ctx context.Context) error {
		reply, err := s.client.SetArgs(ctx, name, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Result()
		ok = reply == "OK"
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
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
	if !s.breaker.TryAcquirePermit() {
		return ErrAbsent
	}
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := f(within)
	var reply redis.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		s.breaker.RecordSuccess()
		s.answered(kind, "")
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
	fault := cmp.Or(s.silent, s.refuses[writing], s.refuses[locking], s.refuses[reading], s.refuses[calling], s.refuses[hearing])
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
	switch {
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
func named(k Key) string {
	text := base64.RawURLEncoding.EncodeToString
	return namedGroup(k.Group()) + "{" + text(k[groupBytes:groupBytes+recordBytes]) + "}:" + text(k[groupBytes+recordBytes:])
}

// namedGroup is what the names of a group's values begin with. It has none of the
// characters that mean something in a pattern.
func namedGroup(g Group) string { return prefix + base64.RawURLEncoding.EncodeToString(g[:]) + ":" }

const lockSuffix = ":lock"
