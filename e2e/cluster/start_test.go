//go:build unix

// Package cluster runs several laconic processes as people do who outgrew one:
// behind HAProxy, with round robin and without sticky sessions, beside one Redis and
// in front of one upstream, with toxiproxy between all of them.
//
// It shows:
//
//   - replicas agree: a conversation whose every request meets another replica
//     reaches the upstream as from one process, byte for byte; each gap is summarized
//     once in all; and what one replica learns, the others know within a second.
//   - faults stay where they are: a Redis in whatever state fails no request, a link
//     to the upstream that breaks is never taken for one that ended, and a rolling
//     restart fails nothing.
//   - a request that needs nothing asks Redis nothing.
//
// LACONIC_CLUSTER=short takes a minute (`make check`), LACONIC_CLUSTER=full
// some minutes, and prints the tables of docs/replicas.md (`make cluster`). Without
// it nothing runs.
package cluster

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// toxic is where a link of toxiproxy may wait for ever, after it was cut.
const toxic = "github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"

func TestMain(m *testing.M) { os.Exit(rig.Main(m, goleak.IgnoreAnyFunction(toxic))) }

// full skips a test where nobody asked for it, and reports whether all of it was
// asked for.
func full(t testing.TB) bool {
	t.Helper()
	switch level := os.Getenv("LACONIC_CLUSTER"); level {
	case "":
		t.Skip("LACONIC_CLUSTER is not set (short, or full)")
	case "full":
		return true
	case "short":
	default:
		t.Fatalf("LACONIC_CLUSTER=%q: it is short, full, or not set", level)
	}
	return false
}

// setup says what there is to be.
type setup struct {
	replicas int
	config   string // of all replicas, beside the store and the limits
	noRedis  bool
	drain    string // of limits; "": 0s
}

// cluster is a balancer, the replicas behind it, their Redis and their upstream.
type cluster struct {
	t        testing.TB
	setup    setup
	URL      string // of the balancer, or of the only replica
	replicas []*replica
	upstream *upstream
	redis    *storetest.Redis
	toRedis  *toxiproxy.Proxy // on the way of all replicas
}

// replica is one laconic process. It has the same addresses after a restart.
type replica struct {
	*rig.Laconic
	c           *cluster
	name        string
	addr, admin string
	dir         string
}

func start(t testing.TB, s setup) *cluster {
	t.Helper()
	c := &cluster{t: t, setup: s, upstream: startUpstream(t)}
	if !s.noRedis {
		c.redis = storetest.StartRedis(t)
		c.toRedis = inFrontOf(t, c.redis.Addr)
	}
	for i := range s.replicas {
		c.replicas = append(c.replicas, &replica{c: c, name: string(rune('a' + i)), addr: storetest.FreeAddress(t), admin: storetest.FreeAddress(t), dir: t.TempDir()})
	}
	for _, r := range c.replicas {
		r.start()
		t.Cleanup(r.stop)
	}
	if c.URL = "http://" + c.replicas[0].addr; len(c.replicas) > 1 {
		c.balance()
	}
	return c
}

// inFrontOf puts a toxic proxy before a Redis.
func inFrontOf(t testing.TB, addr string) *toxiproxy.Proxy {
	t.Helper()
	p := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), "redis", "127.0.0.1:0", addr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// balance starts HAProxy before the replicas, as docs/where.md and docs/replicas.md show it.
func (c *cluster) balance() {
	c.t.Helper()
	addr := storetest.FreeAddress(c.t)
	var text strings.Builder
	fmt.Fprintf(&text, balancer, addr)
	for _, r := range c.replicas {
		_, port, _ := net.SplitHostPort(r.admin)
		fmt.Fprintf(&text, "  server %s %s check addr 127.0.0.1 port %s\n", r.name, r.addr, port)
	}
	file := filepath.Join(c.t.TempDir(), "haproxy.cfg")
	rig.WriteFile(c.t, file, text.String())
	haproxy := exec.Command(rig.Installed(c.t, "haproxy", "haproxy"), "-db", "-f", file)
	if err := haproxy.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = haproxy.Process.Kill()
		_ = haproxy.Wait()
	})
	c.URL = "http://" + addr
	c.balances()
}

// balances waits until the balancer sends requests to every replica.
func (c *cluster) balances() {
	c.t.Helper()
	seen := map[string]bool{}
	rig.Eventually(c.t, "a request to every replica", func() bool {
		status, h, _, err := rig.Ask(http.MethodGet, c.URL+"/v1/models", nil)
		if err == nil {
			seen[h.Get("X-Replica")] = status == http.StatusOK
		}
		return seen["a"] && seen["b"] && seen["c"]
	})
}

// balancer is the configuration of HAProxy. The header is for the tests.
const balancer = `global
  maxconn 4000
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  timeout check 1s
frontend clients
  bind %s
  default_backend laconic
backend laconic
  balance roundrobin
  retries 0
  option redispatch 1
  option abortonclose
  option httpchk GET /readyz
  default-server inter 200ms fall 2 rise 1
  http-response set-header x-replica %%s
`

func (r *replica) start() {
	r.c.t.Helper()
	config := r.c.setup.config
	if c := r.c; !c.setup.noRedis {
		config += fmt.Sprintf("\nstore: {kind: redis, url: %q, secret: a-secret-of-more-than-sixteen-letters}\n", "redis://"+c.toRedis.Listen+"/0")
	}
	drain := r.c.setup.drain
	if drain == "" {
		drain = "0s"
	}
	config += fmt.Sprintf("\nlimits: {drain: %s, shutdown: 15s, response_header_timeout: 4s, stream_idle: 4s}\n", drain)
	rig.WriteFile(r.c.t, filepath.Join(r.dir, "laconic.yaml"), config)
	r.Laconic = rig.Launch(r.c.t, r.dir, nil, "--listen", r.addr, "--admin", r.admin, "--log-level", "debug", "--upstream", "http://"+r.c.upstream.addr+"/v1")
	rig.Eventually(r.c.t, "replica "+r.name, func() bool {
		status, _ := rig.Get(r.Admin + "/readyz")
		return status == http.StatusOK
	})
}

// stop ends the process as a service manager does, if it runs.
func (r *replica) stop() {
	if !r.Ended() {
		r.Stop(r.c.t)
	}
}

// line is what the log says of a request.
type line struct {
	Msg      string   `json:"msg"`
	ID       string   `json:"request_id"`
	Outcome  string   `json:"outcome"`
	Epochs   int      `json:"epochs"`
	Decisive []string `json:"learnt_decisive"`
	Summary  string   `json:"summary"`
	replica  string
}

// lines returns the lines of requests, by their id.
func (c *cluster) lines() map[string]line {
	all := map[string]line{}
	for _, r := range c.replicas {
		for raw := range strings.Lines(r.Output()) {
			var l line
			if json.Unmarshal([]byte(raw), &l) == nil && l.Msg == "compaction" {
				l.replica = r.name
				all[l.ID] = l
			}
		}
	}
	return all
}

// tell sends a command to the Redis itself.
func (c *cluster) tell(words string) string {
	c.t.Helper()
	reply, err := c.redis.Do(words)
	if err != nil {
		c.t.Fatalf("%s: %v %q", words, err, reply)
	}
	return reply
}
