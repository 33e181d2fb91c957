package store

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
)

// node is a server of a store, and what it has shown.
type node struct {
	breaker circuitbreaker.CircuitBreaker[any]
	silent  string        // why it does not answer; "" while it does
	refuses [kinds]string // why it refuses to do what it is asked for
	name    string        // one that it has, of a Cluster: who has it later is in its place
}

// A server may refuse one kind of request and do the others: a replica can be
// read, a full one releases locks.
const (
	reading = iota
	writing
	locking
	erasing
	calling
	kinds
	hearing = kinds // no request: a connection stays open for it
)

// operations are the names of the kinds of requests.
var operations = [kinds]string{reading: "get", writing: "put", locking: "lock", erasing: "erase", calling: "call"}

// breakerDelay is how long a server that does not answer is left alone. Then one
// request asks it again.
const breakerDelay = 5 * time.Second

// at returns the node of an address.
func (s *Redis) at(addr string) *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[addr]
	if n == nil {
		n = &node{breaker: circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithDelay(breakerDelay).Build(), name: s.nameOn(addr)}
		s.nodes[addr] = n
	}
	return n
}

// ask does one thing with the server that has a name, within Patience.
func (s *Redis) ask(ctx context.Context, kind int, name string, f func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return s.askNode(within, kind, s.ownerOf(within, name), f)
}

// nameOn returns a name that the node of an address has; "" if it has none.
func (s *Redis) nameOn(addr string) string {
	if addr == "" {
		return ""
	}
	for range 1000 {
		name := rand.Text()
		if _, has := s.master(context.Background(), name); has == addr { // they are known, since it is
			return name
		}
	}
	return ""
}

// ownerOf returns the address of the node that has a name. It is known without a
// question, but for the first.
func (s *Redis) ownerOf(ctx context.Context, name string) string {
	if s.lost() {
		return ""
	}
	_, addr := s.master(ctx, name)
	return addr
}

// lost reports whether nobody could name the masters of a Cluster of late.
func (s *Redis) lost() bool {
	_, many := s.client.(*redis.ClusterClient)
	return many && s.at("").breaker.IsOpen()
}

// master returns the master of a Cluster that has a name, and its address; "" if nobody
// knows, or if there is no Cluster.
func (s *Redis) master(ctx context.Context, name string) (*redis.Client, string) {
	if c, many := s.client.(*redis.ClusterClient); many {
		if m, err := c.MasterForKey(ctx, name); err == nil {
			return m, m.Options().Addr
		}
	}
	return nil, ""
}

// anyone returns a server for what each of a Cluster can do, if possible one that answers,
// and its address.
func (s *Redis) anyone(ctx context.Context) (redis.UniversalClient, string) {
	if !s.lost() {
		for range 10 {
			m, addr := s.master(ctx, rand.Text())
			if addr == "" {
				break
			}
			if s.at(addr).breaker.IsClosed() {
				return m, addr
			}
		}
	}
	return s.client, ""
}

// askNode does one thing with the node of an address, within Patience.
func (s *Redis) askNode(ctx context.Context, kind int, addr string, f func(context.Context) error) error {
	err := s.tried(ctx, kind, s.at(addr), f)
	if err != nil && err != redis.Nil && err != ErrAbsent { // which nobody was asked for
		s.traffic.failed[kind].Add(1)
	}
	return err
}

// tried is askNode without its count.
func (s *Redis) tried(ctx context.Context, kind int, n *node, f func(context.Context) error) error {
	if !n.breaker.TryAcquirePermit() {
		return ErrAbsent
	}
	s.traffic.operations[kind].Add(1)
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := f(within)
	var reply redis.Error
	switch {
	case err == nil, err == redis.Nil: // as it is: sentinels that do not know a master wrap it
		n.breaker.RecordSuccess()
		s.answered(n, kind, "")
	case errors.Is(err, redis.Nil):
		n.breaker.RecordFailure()
		s.noAnswer(n, noMaster)
	case errors.As(err, &reply):
		// It answers at once, only not what we want: nobody waits for it.
		n.breaker.RecordSuccess()
		s.answered(n, kind, refusal(reply.Error()))
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		n.breaker.RecordSuccess() // the caller left; that says nothing of the store
	default:
		n.breaker.RecordFailure()
		s.noAnswer(n, s.whySilent(err))
	}
	return err
}
