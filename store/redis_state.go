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

// answered notes an answer to a kind of request; refused is why it was not done, or "".
// Only that takes back a refusal: nothing else says that it would be done now.
func (s *Redis) answered(n *node, kind int, refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.silent, n.refuses[kind], s.spoken = "", refused, true
	s.tell()
}

// noAnswer notes that a node did not answer. Of a Cluster, another one may have taken its
// place, which is then asked for.
func (s *Redis) noAnswer(n *node, why string) {
	if c, many := s.client.(*redis.ClusterClient); many {
		c.ReloadState(context.Background())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n.silent = silence + why
	s.tell()
}

// unheard notes why the store cannot be listened to. That a request is answered by a
// connection that is older does not take it back.
func (s *Redis) unheard(why string, silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf, s.silent = why, silent
	s.tell()
}

// heard notes that the node of an address can be listened to.
func (s *Redis) heard(addr string) {
	n := s.at(addr)
	n.breaker.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf, s.silent, n.silent = "", false, ""
	s.tell()
}

// tell tells a change of state, once.
func (s *Redis) tell() {
	if s.told != "" {
		s.forget()
	}
	fault := ""
	if all := s.faults(); len(all) > 0 {
		fault = all[0].Says
	}
	if fault == s.told {
		return
	}
	if s.told == "" {
		s.since = time.Now()
	}
	s.told = fault
	s.notice(cmp.Or(fault, "the store answers again, after "+roughly(time.Since(s.since))))
}

// roughly writes a time in one unit.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// forget forgets nodes with a fault whose place in a Cluster another one has taken.
func (s *Redis) forget() {
	maps.DeleteFunc(s.nodes, func(addr string, n *node) bool {
		if addr == "" || !n.faulty() {
			return false
		}
		if n.name == "" {
			return true
		}
		_, now := s.master(context.Background(), n.name)
		return now != "" && now != addr
	})
}

// faults returns all that is wrong with a store, each once, what matters most first.
func (s *Redis) faults() (all []Fault) {
	add := func(says string) {
		if says != "" && !slices.ContainsFunc(all, func(f Fault) bool { return f.Says == says }) {
			all = append(all, Fault{Says: says})
		}
	}
	for _, addr := range slices.Sorted(maps.Keys(s.nodes)) {
		add(s.nodes[addr].silent)
	}
	if s.silent {
		add(s.deaf)
	}
	return append(all, s.refusals()...)
}

// faulty reports whether anything is wrong with one node.
func (n *node) faulty() bool { return n.silent != "" || n.refuses != [kinds]string{} }

// refusals returns what a store refuses, the one that matters most first: a Fault for
// each reason.
func (s *Redis) refusals() (all []Fault) {
	var reasons []string
	var words [][]string
	add := func(kind int, name, why string) {
		if why == "" {
			return
		}
		i := slices.Index(reasons, why)
		if i < 0 {
			i, reasons, words, all = len(reasons), append(reasons, why), append(words, nil), append(all, Fault{})
		}
		if !slices.Contains(all[i].Operations, name) {
			all[i].Operations, words[i] = append(all[i].Operations, name), append(words[i], s.refusedTo(kind))
		}
	}
	for _, kind := range [...]int{writing, locking, reading, erasing, calling} {
		for _, addr := range slices.Sorted(maps.Keys(s.nodes)) {
			add(kind, operations[kind], s.nodes[addr].refuses[kind])
		}
	}
	if !s.silent {
		add(hearing, "hear", s.deaf)
	}
	for i, why := range reasons {
		all[i].Says = "the store refuses: " + why
		if why == "NOPERM" || why == "ERR" { // other reasons are those of the whole server
			all[i].Says = "the store refuses " + strings.Join(words[i], ", ") + ": " + why
		}
	}
	return all
}

// refusedTo says what a store refuses that refuses a kind of request.
func (s *Redis) refusedTo(kind int) string {
	switch kind {
	case reading:
		return "to be read"
	case writing:
		return "to be written"
	case locking:
		return "to lock"
	case erasing:
		return "to erase"
	case calling:
		return "to call other processes (channel " + strings.TrimSuffix(s.prefix, keysVersion) + "*)"
	}
	return "to be listened to"
}

// State is how a shared store is, and what it was asked since the start.
type State struct {
	// Fault is what Options.Notice was told last: why the store does not answer, or what
	// it refuses. "" while all is well, and before it was asked.
	Fault string
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
	s.mu.Lock()
	defer s.mu.Unlock()
	now.Fault, now.Silent = s.told, s.silent
	now.Refuses["hear"] = s.deaf != "" && !s.silent
	for kind, name := range operations {
		now.Operations[name], now.Failed[name] = s.traffic.operations[kind].Load(), s.traffic.failed[kind].Load()
		for _, n := range s.nodes {
			now.Refuses[name] = now.Refuses[name] || n.refuses[kind] != ""
			now.Silent = now.Silent || n.silent != ""
		}
	}
	return now
}
