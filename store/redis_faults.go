package store

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Fault is what is wrong with a shared store.
type Fault struct {
	Says       string   // as Options.Notice is told
	Fix        string   // what mends it
	Operations []string // that fail by it, as State.Refuses names them

	why string
}

// Why something fails, where another place has to know.
const (
	late       = "no answer in time"
	noDatabase = "it has no database of this number"
	noCluster  = "it is no Cluster"
	noMaster   = "no sentinel knows the master"
	untrusted  = "its certificate is not trusted, or for another name (store.tls)"
)

const seeTLS = "correct store.url (redis://, or rediss:// if it speaks TLS)"

// cures say what mends a fault.
var cures = map[string]string{
	"NOAUTH":      "set store.password, and store.username if the server has users",
	"WRONGPASS":   "correct store.username and store.password",
	"NOPERM":      "give the user of store.username the rights that docs/redis.md lists: ~laconic:* &laconic:* (or store.prefix) +@read +@write +@connection +@scripting +@pubsub",
	"READONLY":    "name the master in store.url, or the sentinels that know it (redis+sentinel://)",
	"OOM":         "raise its maxmemory, or set maxmemory-policy to allkeys-lru",
	"MOVED":       "it is a node of a Cluster: redis+cluster:// in store.url",
	"CLUSTERDOWN": "bring back the master that is missing, or set cluster-require-full-coverage no",
	noDatabase:    "correct the database in store.url; a Cluster (redis+cluster://) has none",
	noCluster:     "redis:// in store.url (rediss:// if it speaks TLS)",

	"no connection":         "start it, or correct store.url",
	"its name is not known": "correct the host in store.url",
	noMaster:                "correct the name of the master in store.url, or ask the sentinels for it: SENTINEL MASTERS",
	untrusted:               "store.tls.ca is the authority of its certificate, store.tls.server_name a name that it is for",
	"it ended the TLS handshake (store.tls.cert)": "store.tls.cert and store.tls.key are a client's certificate from an authority that the server trusts",

	late:                            seeTLS + ", or run it nearer: an answer may take 100 ms",
	"it does not speak TLS":         seeTLS,
	"the connection was closed":     seeTLS,
	"the answer was not understood": seeTLS,
}

// whyNot says in a few words, without names, why something was not done, and whether the
// server answered. It says "" of what was done.
func whyNot(err error) (why string, answered bool) {
	var reply redis.Error
	switch {
	case err == nil:
		return "", true
	case errors.Is(err, redis.Nil): // of sentinels
		return noMaster, false
	case errors.As(err, &reply):
		return refusal(reply.Error()), true
	}
	return networkFault(err), false
}

// refusal says why a server refuses: mostly by the first word of its reply, as in
// READONLY or NOAUTH. The rest may hold names.
func refusal(reply string) string {
	switch {
	case strings.Contains(reply, "DB index is out of range"), strings.Contains(reply, "SELECT is not allowed in cluster mode"):
		return noDatabase
	case strings.Contains(reply, "cluster support disabled"):
		return noCluster
	}
	word, _, _ := strings.Cut(reply, " ")
	if word == "" || len(word) > 20 || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "ERR"
	}
	return word
}

// networkFault says why there was no answer.
func networkFault(err error) string {
	var op *net.OpError
	switch {
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return untrusted
	case errors.As(err, new(tls.RecordHeaderError)):
		return "it does not speak TLS"
	case errors.As(err, &op) && op.Op == "remote error":
		return "it ended the TLS handshake (store.tls.cert)"
	case errors.As(err, new(*net.DNSError)):
		return "its name is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &op) && op.Timeout(), errors.Is(err, redis.ErrPoolTimeout):
		return late
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op), errors.As(err, new(*os.SyscallError)):
		return "the connection was closed"
	}
	return "the answer was not understood"
}

// tryTime is how long what is put to try a store is kept, and how long Try waits to hear.
const tryTime = time.Second

// Try asks a shared store for each thing that it is used for, but erasing, and returns
// what is wrong with it. Its value ends after a second. The error is for options that can
// never work.
func Try(ctx context.Context, o Options) (faults []Fault, err error) {
	s, err := NewRedis(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var k Key
	_, _ = rand.Read(k[:]) // never fails
	for range 5 {          // a first connection may take its time
		_, _ = s.Get(ctx, k)
		if faults = s.wrong(); len(faults) == 0 || !strings.HasSuffix(faults[0].Says, late) {
			break
		}
		s.mu.Lock()
		for _, n := range s.nodes {
			n.breaker.Close()
		}
		s.mu.Unlock()
	}
	if len(faults) > 0 && faults[0].Operations == nil {
		return faults, nil
	}
	_ = s.Put(ctx, k, []byte("tried"), tryTime)
	release, _, _ := s.Lock(ctx, k, tryTime)
	release()
	_ = s.Call(ctx, "tried")
	within, stop := context.WithTimeout(ctx, tryTime)
	defer stop()
	s.Hear(within, func(string) {}, stop)
	return s.wrong(), nil
}

// wrong returns all that is wrong with a store.
func (s *Redis) wrong() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults()
}
