package store

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
)

// node is a server of a store.
type node struct {
	addr    string // "": the one server, or a Cluster as long as its masters are not known
	breaker circuitbreaker.CircuitBreaker[any]
	asked   string // a name that it was asked for last: of a Cluster, who has it later is in its place
}

// What a server is asked for. It may refuse one kind and do the others: a replica can be
// read, a full one releases locks.
const (
	reading = iota
	writing
	locking
	erasing
	calling
	kinds
	hearing = kinds     // a connection that stays open
	silence = kinds + 1 // an answer, whatever it says
)

// operations are the names of the kinds.
var operations = [...]string{reading: "get", writing: "put", locking: "lock", erasing: "erase", calling: "call", hearing: "hear"}

// breakerDelay is how long a server that does not answer is left alone. Then one
// request asks it again.
const breakerDelay = 5 * time.Second

// at returns the node of an address, which is asked for a name.
func (s *Redis) at(addr, name string) *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[addr]
	if n == nil {
		n = &node{addr: addr, breaker: circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithDelay(breakerDelay).Build()}
		s.nodes[addr] = n
	}
	if name != "" {
		n.asked = name
	}
	return n
}

// ask does one thing with the server that has a name, within Patience.
func (s *Redis) ask(ctx context.Context, kind int, name string, f func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	_, n := s.owner(within, name)
	return s.askNode(within, kind, n, f)
}

// owner returns the server that has a name. It is known without a question, but for
// the first.
func (s *Redis) owner(ctx context.Context, name string) (redis.UniversalClient, *node) {
	whole := s.at("", "")
	if !whole.breaker.IsOpen() { // else nobody could name the masters of late
		if c, addr := s.master(ctx, name); addr != "" {
			return c, s.at(addr, name)
		}
	}
	return s.client, whole
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

// anyone returns a server for what each of a Cluster can do, if possible one that answers.
func (s *Redis) anyone(ctx context.Context) (c redis.UniversalClient, n *node) {
	for range 10 {
		if c, n = s.owner(ctx, rand.Text()); n.addr == "" || n.breaker.IsClosed() {
			break
		}
	}
	return c, n
}

// askNode does one thing with a node, within Patience.
func (s *Redis) askNode(ctx context.Context, kind int, n *node, f func(context.Context) error) error {
	if !n.breaker.TryAcquirePermit() {
		return ErrAbsent
	}
	s.traffic.operations[kind].Add(1)
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := f(within)
	if err != nil && err != redis.Nil {
		s.traffic.failed[kind].Add(1)
	}
	why, answered := whyNot(err)
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		n.breaker.RecordSuccess() // the caller left; that says nothing of the store
		return err
	case answered: // at once, if only with a refusal: nobody waits for it
		n.breaker.RecordSuccess()
	default:
		n.breaker.RecordFailure()
	}
	s.note(n, kind, why, answered)
	return err
}
