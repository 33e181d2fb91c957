package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// trouble is a kind of request that fails at the node of an address.
type trouble struct {
	kind int
	addr string
}

// listening is the address of the connection by which words of others are heard.
const listening = "hear"

// note notes how a node took a request: why it was not done, or "". Only another answer to
// this kind takes back a refusal: nothing else says that it would be done now.
func (s *Redis) note(n *node, kind int, why string, answered bool) {
	c, many := s.client.(*redis.ClusterClient)
	if !answered && many {
		c.ReloadState(context.Background()) // another one may have taken its place
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !answered:
		s.troubles[trouble{silence, n.addr}] = why
	case why != "":
		s.troubles[trouble{kind, n.addr}] = why
	default:
		delete(s.troubles, trouble{kind, n.addr})
	}
	if answered {
		s.answers(n)
	}
	s.tell()
}

// answers notes that a node answers. Who knows one knows the masters of its Cluster.
func (s *Redis) answers(n *node) {
	delete(s.troubles, trouble{silence, n.addr})
	delete(s.troubles, trouble{silence, ""})
}

// noteHearing notes why a node cannot be listened to, or "". That a request is answered by
// a connection that is older does not take it back.
func (s *Redis) noteHearing(n *node, why string, answered bool) {
	if why == "" {
		n.breaker.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.troubles, trouble{silence, listening})
	delete(s.troubles, trouble{hearing, listening})
	switch {
	case !answered:
		s.troubles[trouble{silence, listening}] = why
	case why != "":
		s.troubles[trouble{hearing, listening}] = why
	default:
		s.answers(n)
	}
	s.tell()
}

// tell tells a change of state, once.
func (s *Redis) tell() {
	// A node of a Cluster whose place another one has taken is not asked again.
	maps.DeleteFunc(s.troubles, func(at trouble, _ string) bool {
		n := s.nodes[at.addr]
		if n == nil || n.addr == "" {
			return false
		}
		_, now := s.master(context.Background(), n.asked)
		return now != "" && now != n.addr
	})
	fault := Fault{}
	if all := s.faults(); len(all) > 0 {
		fault = all[0]
	}
	was := s.told.Says
	if s.told = fault; fault.Says == was {
		return
	}
	if was == "" {
		s.since = time.Now()
	}
	s.notice(cmp.Or(fault.Says, fmt.Sprintf("the store answers again, after %.0f s", max(1, time.Since(s.since).Seconds()))))
}

// faults returns all that is wrong with a store, each once, what matters most first.
func (s *Redis) faults() (all []Fault) {
	var reasons []string
	for _, kind := range [...]int{silence, writing, locking, reading, erasing, calling, hearing} {
		for _, at := range slices.SortedFunc(maps.Keys(s.troubles), func(a, b trouble) int { return strings.Compare(a.addr, b.addr) }) {
			if at.kind != kind {
				continue
			}
			i := slices.Index(reasons, s.troubles[at])
			if i < 0 {
				i, reasons, all = len(all), append(reasons, s.troubles[at]), append(all, Fault{})
			}
			if kind != silence && !slices.Contains(all[i].Operations, operations[kind]) {
				all[i].Operations = append(all[i].Operations, operations[kind])
			}
		}
	}
	for i, why := range reasons {
		all[i].Fix = cureOf(why)
		switch {
		case all[i].Operations == nil:
			all[i].Says = "the store does not answer: " + why
		case why == "NOPERM", why == "ERR":
			all[i].Says = "the store refuses " + strings.Join(all[i].Operations, ", ") + ": " + why
		default: // that is so for the whole server
			all[i].Says = "the store refuses: " + why
		}
	}
	return all
}

// State is how a shared store is, and what it was asked since the start.
type State struct {
	// Fault is what Options.Notice was told last: why the store does not answer, or what
	// it refuses. "" while all is well, and before it was asked.
	Fault string
	Fix   string // what mends it
	// Silent reports whether it does not answer, or a master of it.
	Silent bool
	// Refuses says by operation whether it refuses: those below, and hear. It is nil for a
	// store that is no other process's.
	Refuses map[string]bool
	// Operations are by name: get, put, lock, erase, call. Each takes one round trip. Of
	// these, Failed were not done.
	Operations, Failed map[string]uint64
	Sent, Received     uint64 // bytes
}

// State returns how the store is. Only one that other processes may share has a state.
func (v *Vault) State() (now State) {
	s, ok := v.under.(*Redis)
	if !ok {
		return now
	}
	now = State{
		Refuses: map[string]bool{}, Operations: map[string]uint64{}, Failed: map[string]uint64{},
		Sent: s.traffic.sent.Load(), Received: s.traffic.received.Load(),
	}
	for kind, name := range operations {
		now.Refuses[name] = false
		if kind < kinds {
			now.Operations[name], now.Failed[name] = s.traffic.operations[kind].Load(), s.traffic.failed[kind].Load()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now.Fault, now.Fix = s.told.Says, s.told.Fix
	for at := range s.troubles {
		if at.kind == silence {
			now.Silent = true
		} else {
			now.Refuses[operations[at.kind]] = true
		}
	}
	return now
}
