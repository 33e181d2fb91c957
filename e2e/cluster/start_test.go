//go:build unix

package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"laconic/store/storetest"
)

// patience is how long anything may take that should happen soon. It is only ever
// waited for when something is broken.
const patience = 30 * time.Second

// folder is where the command is built.
var folder string

// toxic is where a link of toxiproxy may wait for ever, after it was cut.
const toxic = "github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "laconic-cluster-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		if code := m.Run(); code != 0 {
			return code
		}
		client.CloseIdleConnections()
		if err := goleak.Find(goleak.IgnoreAnyFunction(toxic)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}())
}

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

// command returns the path of the program.
var command = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "laconic")
	out, err := exec.Command("go", "build", "-o", path, "laconic").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

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
	c           *cluster
	name        string
	addr, admin string
	dir         string
	cmd         *exec.Cmd
	done        chan error
	stopped     bool
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

// program returns the path of a program that apt installs.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if path = "/usr/sbin/" + name; exec.Command(path, "-v").Run() == nil {
		return path
	}
	if os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatalf("no %s here (apt install %[1]s)", name)
	}
	t.Skipf("no %s here (apt install %[1]s)", name)
	return ""
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
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		c.t.Fatal(err)
	}
	haproxy := exec.Command(program(c.t, "haproxy"), "-db", "-f", file)
	if err := haproxy.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = haproxy.Process.Kill()
		_ = haproxy.Wait()
	})
	c.URL = "http://" + addr
	seen := map[string]bool{}
	eventually(c.t, "every replica is asked", func() bool {
		res, err := client.Get(c.URL + "/v1/models")
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			seen[res.Header.Get("X-Replica")] = res.StatusCode == http.StatusOK
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
	path, err := command()
	if err != nil {
		r.c.t.Fatal(err)
	}
	config := r.c.setup.config
	if c := r.c; !c.setup.noRedis {
		config += fmt.Sprintf("\nstore: {kind: redis, url: %q, secret: a-secret-of-more-than-sixteen-letters}\n", "redis://"+c.toRedis.Listen+"/0")
	}
	drain := r.c.setup.drain
	if drain == "" {
		drain = "0s"
	}
	config += fmt.Sprintf("\nlimits: {drain: %s, shutdown: 15s, response_header_timeout: 4s, stream_idle: 4s}\n", drain)
	if err := os.WriteFile(filepath.Join(r.dir, "laconic.yaml"), []byte(config), 0o600); err != nil {
		r.c.t.Fatal(err)
	}
	log, err := os.OpenFile(r.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.c.t.Fatal(err)
	}
	defer log.Close()
	r.cmd = exec.Command(path, "serve", "--listen", r.addr, "--admin", r.admin, "--log-format", "json", "--log-level", "debug",
		"--upstream", "http://"+r.c.upstream.addr+"/v1")
	r.cmd.Dir, r.cmd.Stderr = r.dir, log
	if err := r.cmd.Start(); err != nil {
		r.c.t.Fatal(err)
	}
	r.done, r.stopped = make(chan error, 1), false
	cmd, done := r.cmd, r.done
	go func() { done <- cmd.Wait() }()
	eventually(r.c.t, "replica "+r.name+" is ready", func() bool {
		res, err := client.Get("http://" + r.admin + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

func (r *replica) logFile() string { return filepath.Join(r.dir, "log") }

// stop ends the process as a service manager does, and waits for it.
func (r *replica) stop() {
	if r.stopped {
		return
	}
	r.stopped = true
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-r.done:
		if err != nil {
			text, _ := os.ReadFile(r.logFile())
			r.c.t.Errorf("replica %s did not end as it should: %v\n%.1000s", r.name, err, text)
		}
	case <-time.After(patience):
		_ = r.cmd.Process.Kill()
		<-r.done
		r.c.t.Errorf("replica %s had to be killed", r.name)
	}
}

// says returns what a page of its admin address says.
func (r *replica) says(page string) string {
	res, err := client.Get("http://" + r.admin + page)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
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
		text, err := os.ReadFile(r.logFile())
		if err != nil {
			c.t.Fatal(err)
		}
		for raw := range bytes.Lines(text) {
			var l line
			if json.Unmarshal(raw, &l) == nil && l.Msg == "compaction" {
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

var processID = regexp.MustCompile(`process_id:(\d+)`)

// redisPid returns the process of the Redis.
func (c *cluster) redisPid() int {
	c.t.Helper()
	m := processID.FindStringSubmatch(c.tell("INFO server"))
	if m == nil {
		c.t.Fatal("Redis does not say which process it is")
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// client adds nothing to a request.
var client = &http.Client{
	Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 512},
	Timeout:   4 * patience,
}
