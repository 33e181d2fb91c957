package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
)

// The operations of a store, those that matter most first. A server may refuse one of them
// and do the others: a replica can be read, a full one releases locks.
const (
	writing = iota
	locking
	reading
	erasing
	calling
	counted
	hearing = counted // a connection that stays open
	silence = -1      // no operation: the server does not answer at all
)

// operations are the names of the operations.
var operations = [...]string{reading: "get", writing: "put", locking: "lock", erasing: "erase", calling: "call", hearing: "hear"}

// breakerDelay is how long a server that does not answer is left alone. Then one
// request asks it again.
const breakerDelay = 5 * time.Second

// ask does one operation within Patience.
func (s *Redis) ask(ctx context.Context, kind int, f func(context.Context) error) error {
	within, cancel := context.WithTimeout(context.WithValue(ctx, operation{}, kind), Patience)
	defer cancel()
	err := f(within)
	if errors.Is(err, ErrAbsent) {
		return ErrAbsent
	}
	s.operations[kind].Add(1)
	if err != nil {
		s.failed[kind].Add(1)
	}
	return err
}

// operation is the key of a context's operation.
type operation struct{}

// node is a server of a store: the one, the master that sentinels name, or one of a
// Cluster. It is a hook of the server's client.
type node struct {
	s       *Redis
	addr    string // "": there is no Cluster
	breaker circuitbreaker.CircuitBreaker[any]
}

// watch has a node stand before each command of a client.
func (s *Redis) watch(c interface{ AddHook(redis.Hook) }, addr string) {
	n := &node{s: s, addr: addr, breaker: circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithDelay(breakerDelay).Build()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[addr] = n
	c.AddHook(n)
}

func (n *node) DialHook(next redis.DialHook) redis.DialHook { return next }

func (n *node) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook sends a command, unless the server is left alone. The first commands of a
// new connection are a part of the command that it was made for.
func (n *node) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		kind, ok := ctx.Value(operation{}).(int)
		if !ok {
			return next(ctx, cmd)
		}
		if !n.breaker.TryAcquirePermit() {
			return ErrAbsent
		}
		err := next(context.WithValue(ctx, operation{}, nil), cmd)
		_, answered := whyNot(err)
		switch {
		case answered: // at once, if only with a refusal: nobody waits for it
			n.breaker.RecordSuccess()
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			n.breaker.RecordSuccess() // the caller left; that says nothing of the store
			return err
		default:
			n.breaker.RecordFailure()
		}
		n.s.note(n.addr, kind, err)
		return err
	}
}

// trouble is an operation that fails at a server.
type trouble struct {
	kind int
	addr string
}

// failure is why an operation failed, and when it did so last.
type failure struct {
	why string
	at  time.Time
}

// stale is after how long a server of a Cluster that was not asked again counts as
// replaced: another one has its slots.
const stale = 3 * breakerDelay

// note notes how a server took an operation. Only another answer to the same operation
// takes back a refusal: nothing else says that it would be done now.
func (s *Redis) note(addr string, kind int, err error) {
	why, answered := whyNot(err)
	c, many := s.client.(*redis.ClusterClient)
	switch {
	case many && (why == "MOVED" || why == "ASK"):
		return // the client asks another server
	case many && !answered:
		c.ReloadState(context.Background()) // another server may have taken its place
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case !answered:
		s.troubles[trouble{silence, addr}] = failure{why, now}
	case why != "":
		s.troubles[trouble{kind, addr}] = failure{why, now}
	default:
		delete(s.troubles, trouble{kind, addr})
	}
	if answered {
		delete(s.troubles, trouble{silence, addr})
		maps.DeleteFunc(s.troubles, func(at trouble, f failure) bool { return at.addr != "" && now.Sub(f.at) > stale })
	}
	s.tell()
}

// noteHearing notes how the connection took it by which words are heard: nil says that
// they are. A server that can be heard is asked again. In a Cluster any server passes
// words on, which says nothing of the others.
func (s *Redis) noteHearing(err error) {
	if err == nil {
		s.mu.Lock()
		delete(s.troubles, trouble{silence, ""})
		if n := s.nodes[""]; n != nil {
			n.breaker.Close()
		}
		s.mu.Unlock()
	}
	s.note(operations[hearing], hearing, err)
}

// tell tells a change of state, once.
func (s *Redis) tell() {
	says := ""
	if all := s.faults(); len(all) > 0 {
		says = all[0].Says
	}
	was := s.noticed
	if s.noticed = says; says == was {
		return
	}
	if was == "" {
		s.since = time.Now()
	}
	s.notice(cmp.Or(says, fmt.Sprintf("the store answers again, after %.0f s", max(1, time.Since(s.since).Seconds()))))
}

// faults returns all that is wrong with a store, each once, what matters most first.
func (s *Redis) faults() (all []Fault) {
	order := func(a, b trouble) int { return cmp.Or(a.kind-b.kind, strings.Compare(a.addr, b.addr)) }
	for _, at := range slices.SortedFunc(maps.Keys(s.troubles), order) {
		why := s.troubles[at].why
		i := slices.IndexFunc(all, func(f Fault) bool { return f.why == why })
		if i < 0 {
			i, all = len(all), append(all, Fault{why: why, Fix: cmp.Or(cures[why], "see its log and its manual for "+why)})
		}
		f := &all[i]
		if at.kind != silence && !slices.Contains(f.Operations, operations[at.kind]) {
			f.Operations = append(f.Operations, operations[at.kind])
		}
		switch {
		case f.Operations == nil:
			f.Says = "the store does not answer: " + why
		case why == "NOPERM", why == "ERR":
			f.Says = "the store refuses " + strings.Join(f.Operations, ", ") + ": " + why
		default: // that is so for the whole server
			f.Says = "the store refuses: " + why
		}
	}
	return all
}

// State is the state of a shared store, with what it was asked since the start.
type State struct {
	// Fault is why the store does not answer, or what it refuses, as Options.Notice was
	// told last; zero while all is well, and before it was asked.
	Fault Fault
	// Silent reports whether it does not answer, or a master of it.
	Silent bool
	// Refuses says by operation whether it refuses: those below, and hear. It is nil for a
	// store that is no other process's.
	Refuses map[string]bool
	// Operations are by name: get, put, lock, erase, call. Each takes one round trip.
	// Failed are those not done.
	Operations, Failed map[string]uint64
}

// State returns how the store is. Only one that other processes may share has a state.
func (v *Vault) State() (now State) {
	s := v.shared
	if s == nil {
		return now
	}
	now = State{Refuses: map[string]bool{}, Operations: map[string]uint64{}, Failed: map[string]uint64{}}
	for kind, name := range operations {
		now.Refuses[name] = false
		if kind < counted {
			now.Operations[name], now.Failed[name] = s.operations[kind].Load(), s.failed[kind].Load()
		}
	}
	for n, f := range s.wrong() {
		if n == 0 {
			now.Fault = f
		}
		now.Silent = now.Silent || f.Operations == nil
		for _, name := range f.Operations {
			now.Refuses[name] = true
		}
	}
	return now
}
