package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/redis/go-redis/v9"
)

// node is a server of a store, and what it has shown.
type node struct {
	breaker circuitbreaker.CircuitBreaker[any]
	silent  string        // why it does not answer; "" while it does
	refuses [kinds]string // why it refuses to do what it is asked for
	vain    string        // the name that it was asked for last and did not answer
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
		n = &node{breaker: circuitbreaker.NewBuilder[any]().WithFailureThreshold(1).WithDelay(breakerDelay).Build()}
		s.nodes[addr] = n
	}
	return n
}

// ask does one thing with the server that has a name, within Patience.
func (s *Redis) ask(ctx context.Context, kind int, name string, f func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return s.askNode(within, kind, s.ownerOf(within, name), name, f)
}

// ownerOf returns the address of the node that has a name. It is known without a
// question, but for the first.
func (s *Redis) ownerOf(ctx context.Context, name string) string {
	if c, many := s.client.(*redis.ClusterClient); many && !s.at("").breaker.IsOpen() {
		if m, err := c.MasterForKey(ctx, name); err == nil {
			return m.Options().Addr
		}
	}
	return ""
}

// anyone returns a server for what each of a Cluster can do, if possible one that answers,
// and its address.
func (s *Redis) anyone(ctx context.Context) (redis.UniversalClient, string) {
	if c, many := s.client.(*redis.ClusterClient); many && !s.at("").breaker.IsOpen() {
		for range 10 {
			m, err := c.MasterForKey(ctx, rand.Text())
			if err != nil {
				break
			}
			if addr := m.Options().Addr; s.at(addr).breaker.IsClosed() {
				return m, addr
			}
		}
	}
	return s.client, ""
}

// askNode does one thing with the node of an address, within Patience.
func (s *Redis) askNode(ctx context.Context, kind int, addr, name string, f func(context.Context) error) error {
	err := s.tried(ctx, kind, s.at(addr), name, f)
	if err != nil && err != redis.Nil && err != ErrAbsent { // which nobody was asked for
		s.traffic.failed[kind].Add(1)
	}
	return err
}

// tried is askNode without its count.
func (s *Redis) tried(ctx context.Context, kind int, n *node, name string, f func(context.Context) error) error {
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
		s.noAnswer(n, name, noMaster)
	case errors.As(err, &reply):
		// It answers at once, only not what we want: nobody waits for it.
		n.breaker.RecordSuccess()
		s.answered(n, kind, refusal(reply.Error()))
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		n.breaker.RecordSuccess() // the caller left; that says nothing of the store
	default:
		n.breaker.RecordFailure()
		s.noAnswer(n, name, s.whySilent(err))
	}
	return err
}

// answered notes an answer to a kind of request; refused is why it was not done, or "".
// Only that takes back a refusal: nothing else says that it would be done now.
func (s *Redis) answered(n *node, kind int, refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.silent, n.refuses[kind], s.spoken = "", refused, true
	s.tell()
}

// noAnswer notes that a node did not answer when it was asked for a name. Of a Cluster,
// another one may have taken its place, which is then asked for.
func (s *Redis) noAnswer(n *node, name, why string) {
	if c, many := s.client.(*redis.ClusterClient); many {
		c.ReloadState(context.Background())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n.silent, n.vain = silence+why, name
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
	fault := s.fault()
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
	c, many := s.client.(*redis.ClusterClient)
	maps.DeleteFunc(s.nodes, func(addr string, n *node) bool {
		if !many || addr == "" || !n.faulty() {
			return false
		}
		m, err := c.MasterForKey(context.Background(), n.vain)
		return err == nil && m.Options().Addr != addr
	})
}

// fault returns what is wrong with a store; "" while all is well.
func (s *Redis) fault() string {
	var why string
	for _, addr := range slices.Sorted(maps.Keys(s.nodes)) {
		why = cmp.Or(why, s.nodes[addr].silent)
	}
	if s.silent {
		why = cmp.Or(why, s.deaf)
	}
	if refusals := s.refusals(); why == "" && refusals != nil {
		why = refusals[0].Says
	}
	return why
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

// codeOf is the first word of an error reply, as in READONLY or NOAUTH. The
// rest may hold names.
func codeOf(reply string) string {
	word, _, _ := strings.Cut(reply, " ")
	if word == "" || len(word) > 20 || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "ERR"
	}
	return word
}

// whySilent is networkFault, with a guess where a server took a connection and never gave
// an answer. Why it ended the connection may be lost with it.
func (s *Redis) whySilent(err error) string {
	why := networkFault(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case why != closed && why != notUnderstood, s.spoken:
		return why
	case s.secured:
		return why + ": does it ask for a client's certificate? (store.tls.cert)"
	}
	return why + ": does it speak TLS? (rediss://)"
}

// refusal says in a few words why a server refuses, without names.
func refusal(reply string) string {
	for _, known := range [...]struct{ part, says string }{
		{"DB index is out of range", "it has no database of this number"},
		{"SELECT is not allowed in cluster mode", "it is a Cluster, which has no database of this number"},
		{"cluster support disabled", "it is no Cluster"},
	} {
		if strings.Contains(reply, known.part) {
			return known.says
		}
	}
	return codeOf(reply)
}

// silence is what each sentence of a store begins with that does not answer.
const silence = "the store does not answer: "

// Why a store does not answer.
const (
	late          = "no answer in time"
	noMaster      = "no sentinel knows the master"
	closed        = "the connection was closed"
	notUnderstood = "the answer was not understood"
)

// networkFault says in a few words why there was no answer, without addresses.
func networkFault(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var call *os.SyscallError
	var another x509.HostnameError
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &another):
		return "its certificate is for another name than that of store.url or store.tls.server_name"
	case errors.As(err, &untrusted):
		return "its certificate is not trusted"
	case errors.As(err, &plain):
		return "it does not speak TLS"
	case errors.As(err, &op) && op.Op == "remote error" && strings.Contains(op.Err.Error(), "certificate"):
		return "it takes no client without a certificate that it trusts (store.tls.cert)"
	case errors.As(err, &op) && op.Op == "remote error":
		return "it ended the TLS handshake"
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &op) && op.Timeout(), errors.Is(err, redis.ErrPoolTimeout):
		return late
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op), errors.As(err, &call):
		return closed
	}
	return notUnderstood
}
