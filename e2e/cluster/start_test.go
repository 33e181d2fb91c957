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

// command returns the path of the program, next that of another version of it.
var (
	command = sync.OnceValues(func() (string, error) { return build("laconic", nil) })
	next    = sync.OnceValues(func() (string, error) { return build("next", changes) })
)

// changes are what another version has otherwise, by file. Its fold makes the same
// gaps, has another frame for the text that stands for one, and so another version.
// The prompt shows who asks.
var changes = map[string][2]string{
	"compact/slot.go":                  {`const FoldVersion = "`, `const FoldVersion = "next `},
	"compact/compact.go":               {`were left out here to save room. It`, `left, to save room. It`},
	"proxy/summarize/prompt/prompt.go": {"const instructions = `", "const instructions = `" + nextAsks},
}

// nextAsks is what the other version says to the model first.
const nextAsks = "As of the next version. "

// build returns the path of the program with some files changed.
func build(name string, changes map[string][2]string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, change := range changes {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			return "", fmt.Errorf("%s has no %s", file, change[0])
		}
		other := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(other, []byte(changed), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, file)] = other
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path+".json", text, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-overlay", path+".json", "-o", path, "laconic").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
}

// setup says what there is to be.
type setup struct {
	replicas int
	config   string // of all replicas, beside the store and the limits
	noRedis  bool
	store    string // URL of a Redis that is not the cluster's own
	drain    string // of limits; "": 0s
	retries  int    // of the balancer, on another replica
	alone    bool   // no toxic proxy before the upstream, and a log as by default
	next     string // the names of replicas that run another version
	links    bool   // a toxic proxy before the balancer, and one before each replica
}

// cluster is a balancer, the replicas behind it, their Redis and their upstream.
type cluster struct {
	t        testing.TB
	setup    setup
	URL      string // of the balancer, or of the only replica
	replicas []*replica
	upstream *upstream
	redis    *storetest.Redis
	// toRedis and toUpstream are on the way of all replicas. toBalancer is on that of
	// the clients who take it, and nil without links.
	toRedis, toUpstream, toBalancer *toxiproxy.Proxy
	haproxy                         *exec.Cmd
	balancerLog                     string
	stopBalancer                    func()
}

// replica is one laconic process. It has the same addresses after a restart.
type replica struct {
	c           *cluster
	name        string
	addr, admin string
	link        *toxiproxy.Proxy // between the balancer and it; nil without links
	dir         string
	cmd         *exec.Cmd
	done        chan error
	killed      bool
}

func start(t testing.TB, s setup) *cluster {
	t.Helper()
	c := &cluster{t: t, setup: s, upstream: startUpstream(t)}
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	c.toUpstream = between(t, api, "upstream", c.upstream.addr)
	if !s.noRedis && s.store == "" {
		c.redis = storetest.StartRedis(t)
		c.toRedis = between(t, api, "redis", c.redis.Addr)
	}
	for i := range s.replicas {
		c.replicas = append(c.replicas, &replica{c: c, name: string(rune('a' + i)), addr: storetest.FreeAddress(t), admin: storetest.FreeAddress(t), dir: t.TempDir()})
	}
	for _, r := range c.replicas {
		r.start()
		t.Cleanup(r.stop)
	}
	if c.URL = "http://" + c.replicas[0].addr; len(c.replicas) > 1 {
		for _, r := range c.replicas {
			if s.links {
				r.link = between(t, api, r.name, r.addr)
			}
		}
		c.balance()
		if s.links {
			c.toBalancer = between(t, api, "balancer", strings.TrimPrefix(c.URL, "http://"))
		}
	}
	return c
}

// between puts a toxic proxy before an address.
func between(t testing.TB, api *toxiproxy.ApiServer, name, addr string) *toxiproxy.Proxy {
	t.Helper()
	p := toxiproxy.NewProxy(api, name, "127.0.0.1:0", addr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func (c *cluster) poison(p *toxiproxy.Proxy, toxic string) {
	c.t.Helper()
	if _, err := p.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		c.t.Fatal(err)
	}
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
	patience := "120s"
	if c.setup.links {
		patience = "3s" // for a replica that says nothing
	}
	fmt.Fprintf(&text, balancer, patience, addr, c.setup.retries)
	for _, r := range c.replicas {
		_, port, _ := net.SplitHostPort(r.admin)
		at := r.addr
		if r.link != nil {
			at = r.link.Listen
		}
		fmt.Fprintf(&text, "  server %s %s check addr 127.0.0.1 port %s\n", r.name, at, port)
	}
	file := filepath.Join(c.t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.haproxy = exec.Command(program(c.t, "haproxy"), "-db", "-f", file)
	said, err := os.Create(file + ".log")
	if err != nil {
		c.t.Fatal(err)
	}
	c.balancerLog = said.Name()
	c.haproxy.Stdout, c.haproxy.Stderr = said, said
	if err := c.haproxy.Start(); err != nil {
		c.t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		_ = c.haproxy.Process.Kill()
		_ = c.haproxy.Wait()
		_ = said.Close()
	})
	c.stopBalancer = stop
	c.t.Cleanup(stop)
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

// balancer is the configuration of HAProxy. The log and the header are
// for the tests.
const balancer = `global
  maxconn 4000
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server %s
  timeout check 1s
frontend clients
  bind %s
  log stdout format raw local0
  log-format "request %%[capture.req.hdr(0)] of %%s"
  http-request capture req.hdr(X-Request) len 64
  default_backend laconic
backend laconic
  balance roundrobin
  retries %d
  option redispatch 1
  option abortonclose
  option httpchk GET /readyz
  default-server inter 200ms fall 2 rise 1
  http-response set-header x-replica %%s
`

func (r *replica) start() {
	r.c.t.Helper()
	program := command
	if strings.Contains(r.c.setup.next, r.name) {
		program = next
	}
	path, err := program()
	if err != nil {
		r.c.t.Fatal(err)
	}
	config := r.c.setup.config
	url := r.c.setup.store
	if c := r.c; url == "" && !c.setup.noRedis {
		url = "redis://" + c.toRedis.Listen + "/0"
	}
	if url != "" {
		config += fmt.Sprintf("\nstore: {kind: redis, url: %q, secret: a-secret-of-more-than-sixteen-letters}\n", url)
	}
	drain := r.c.setup.drain
	if drain == "" {
		drain = "0s"
	}
	idle, level, upstream := "4s", "debug", r.c.toUpstream.Listen
	if r.c.setup.alone {
		idle, level, upstream = "10m", "info", r.c.upstream.addr
	}
	config += fmt.Sprintf("\nlimits: {drain: %s, shutdown: 15s, response_header_timeout: %s, stream_idle: %[2]s}\n", drain, idle)
	if err := os.WriteFile(filepath.Join(r.dir, "laconic.yaml"), []byte(config), 0o600); err != nil {
		r.c.t.Fatal(err)
	}
	log, err := os.OpenFile(r.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.c.t.Fatal(err)
	}
	defer log.Close()
	r.cmd = exec.Command(path, "serve", "--listen", r.addr, "--admin", r.admin, "--log-format", "json", "--log-level", level,
		"--upstream", "http://"+upstream+"/v1")
	r.cmd.Dir, r.cmd.Stderr = r.dir, log
	if err := r.cmd.Start(); err != nil {
		r.c.t.Fatal(err)
	}
	r.done, r.killed = make(chan error, 1), false
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
	if r.killed {
		return
	}
	r.killed = true
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

// kill ends the process at once.
func (r *replica) kill() {
	r.killed = true
	_ = r.cmd.Process.Kill()
	<-r.done
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
	Reason   string   `json:"summary_reason"`
	Error    string   `json:"error"`
	Made     int      `json:"tries"`
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
	conn, err := net.DialTimeout("tcp", c.redis.Addr, time.Second)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprintf(conn, "%s\r\nPING end\r\n", words); err != nil {
		c.t.Fatal(err)
	}
	var all []byte
	for part := make([]byte, 64<<10); !bytes.Contains(all, []byte("end\r\n")); {
		n, err := conn.Read(part)
		if all = append(all, part[:n]...); err != nil {
			c.t.Fatalf("%s: %v %q", words, err, all)
		}
	}
	return string(all)
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
