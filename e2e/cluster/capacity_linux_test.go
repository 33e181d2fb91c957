package cluster

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpu returns how long processors have worked for a process so far.
func (r *replica) cpu() time.Duration {
	r.c.t.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^r.cmd.Process.Pid<<3|2), &t); err != nil { // CPUCLOCK_SCHED of another process
		r.c.t.Fatal(err)
	}
	return time.Duration(t.Nano())
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+)`)

// rss returns the memory of a process, in bytes.
func (r *replica) rss() int {
	r.c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	m := resident.FindSubmatch(text)
	if m == nil {
		r.c.t.Fatalf("no memory of the process: %v", err)
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return kb << 10
}

// parallel sends a body so many times, eight at once.
func (c *cluster) parallel(n int, body []byte, headers func(i int) []string) {
	c.t.Helper()
	var workers sync.WaitGroup
	next := make(chan int)
	for range min(8, n) {
		workers.Go(func() {
			for i := range next {
				if _, err := c.send(c.URL, body, headers(i)...); err != nil {
					c.t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// TestWhatARequestCosts prints the time that processors work for a thousand requests,
// whose histories were seen before but for their end: with nothing to do, and with a
// budget of a third. Half of the requests are sent first to warm up.
func TestWhatARequestCosts(t *testing.T) {
	part := 20
	if full(t) {
		part = 1
	}
	c := start(t, setup{replicas: 1, noRedis: true, alone: true})
	r := c.replicas[0]
	for _, s := range []struct {
		name           string
		calls, size, n int
	}{{"1 KB", 1, 600, 4000}, {"40 KB", 18, 1900, 2000}, {"400 KB", 180, 1900, 400}, {"4 MB", 950, 4000, 60}} {
		body := conversation("gpt-4o", s.calls, s.size, false)
		if s.n/part/2 < 2 {
			continue // too few to tell anything
		}
		measure := func(headers ...string) time.Duration {
			all := func(int) []string { return headers }
			c.parallel(s.n/part/2, body, all)
			before := r.cpu()
			c.parallel(s.n/part, body, all)
			return (r.cpu() - before) * 1000 / time.Duration(s.n/part)
		}
		untouched := measure("X-Laconic-Budget: 100000000")
		folded := measure(fmt.Sprintf("X-Laconic-Budget: %d", max(200, len(body)/12)))
		note(t, "cpu", fmt.Sprintf("| %s | %.2f s | %.2f s | %.0f |\n", s.name, untouched.Seconds(), folded.Seconds(), 2000/max(untouched, folded).Seconds()))
	}
}

// certificate writes a certificate for loopback, and returns what a configuration
// says of it.
func certificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("tls: {cert: %s/cert.pem, key: %[1]s/key.pem}\n", dir)
}

// kind is how clients speak to a process.
type kind struct {
	name, scheme, config string
	speaks               *http.Transport
}

// kinds returns clients with a connection each, and a balancer that speaks HTTP/2.
func kinds(t *testing.T) (one, two kind) {
	t.Helper()
	one = kind{"HTTP/1", "http", "", &http.Transport{MaxIdleConnsPerHost: 1}}
	two = kind{"HTTP/2 and TLS", "https", certificate(t), &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is of this test
	}}
	return one, two
}

// opened are streams of one process.
type opened struct {
	t      *testing.T
	r      *replica
	kind   kind
	ctx    context.Context
	leave  context.CancelFunc
	mu     sync.Mutex
	bodies []io.ReadCloser
}

func (k kind) start(t *testing.T) *opened {
	t.Helper()
	c := start(t, setup{replicas: 1, noRedis: true, alone: true, config: k.config})
	o := &opened{t: t, r: c.replicas[0], kind: k}
	o.ctx, o.leave = context.WithCancel(t.Context())
	return o
}

// open opens n streams, and returns when each has brought its first byte.
func (o *opened) open(n int, events string) {
	var opening sync.WaitGroup
	free := make(chan bool, 32)
	for range n {
		free <- true
		opening.Go(func() {
			defer func() { <-free }()
			req, err := http.NewRequestWithContext(o.ctx, http.MethodPost, o.kind.scheme+"://"+o.r.addr+"/v1/chat/completions", bytes.NewReader(streamBody))
			if err != nil {
				o.t.Error(err)
				return
			}
			req.Header.Set("X-Events", events)
			res, err := o.kind.speaks.RoundTrip(req)
			if err != nil {
				o.t.Error(err)
				return
			}
			if _, err := res.Body.Read(make([]byte, 1)); err != nil || res.StatusCode != http.StatusOK {
				o.t.Errorf("status %d, %v", res.StatusCode, err)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			o.bodies = append(o.bodies, res.Body)
		})
	}
	opening.Wait()
}

// end closes the streams, and waits until the process has noticed.
func (o *opened) end() {
	o.leave()
	for _, b := range o.bodies {
		_ = b.Close()
	}
	o.kind.speaks.CloseIdleConnections()
	eventually(o.t, o.kind.name+": nothing is left of them", func() bool { return servingNow(o.r) == 0 })
	o.r.stop()
}

// TestWhatAnOpenStreamCosts prints the memory of one process for each open stream,
// and the time that processors work for all of them. HTTP/1 takes two descriptors a
// stream, of the process and of this one, so their limit may allow fewer than 10,000.
func TestWhatAnOpenStreamCosts(t *testing.T) {
	one, two := kinds(t)
	most := 10_000
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const silent, slow = "2 1h", "1000000 2s"
	says := map[string]string{silent: "none", slow: "one in 2 s"}
	for _, s := range []struct {
		kind
		n      int
		events string
	}{
		{one, min(most, (int(min(limit.Max, 1<<20))-400)/2), silent},
		{two, most, silent},
		{two, most, slow},
	} {
		settle, length := 500*time.Millisecond, 2*time.Second
		if full(t) {
			settle, length = 3*time.Second, 6*time.Second
		} else if s.n = 500; s.events == slow {
			continue
		}
		o := s.start(t)
		o.open(20, s.events)
		time.Sleep(500 * time.Millisecond)
		before := o.r.rss()
		o.open(s.n, s.events)
		time.Sleep(settle)
		after, cpu := o.r.rss(), o.r.cpu()
		time.Sleep(length)
		cpu = o.r.cpu() - cpu
		if n := servingNow(o.r); n != s.n+20 {
			t.Errorf("%s: %d streams are open, want %d", s.name, n, s.n+20)
		}
		note(t, "streams", fmt.Sprintf("| %s | %d | %s | %d KB | %d MB | %.0f %% |\n", s.name, s.n, says[s.events],
			(after-before)/s.n>>10, after>>20, 100*cpu.Seconds()/length.Seconds()))
		o.end()
	}
}

// TestWhatAnEventCosts prints the time that processors work for one event of a
// stream, of 200 that are open, at two paces.
func TestWhatAnEventCosts(t *testing.T) {
	streams, length := 50, time.Second
	if full(t) {
		streams, length = 200, 5*time.Second
	}
	one, two := kinds(t)
	for _, k := range []kind{one, two} {
		for _, pace := range []time.Duration{100 * time.Millisecond, 20 * time.Millisecond} {
			o := k.start(t)
			var events atomic.Int64
			var reading sync.WaitGroup
			o.open(streams, "1000000 "+pace.String())
			for _, body := range o.bodies {
				reading.Go(func() {
					for lines := bufio.NewScanner(body); lines.Scan(); {
						if len(lines.Bytes()) > 0 {
							events.Add(1)
						}
					}
				})
			}
			time.Sleep(time.Second)
			n, cpu := events.Load(), o.r.cpu()
			time.Sleep(length)
			n, cpu = events.Load()-n, o.r.cpu()-cpu
			if n == 0 {
				t.Fatal("no event came")
			}
			note(t, "events", fmt.Sprintf("| %s | %d | %.0f | %d µs |\n", k.name, streams, float64(n)/length.Seconds()/float64(streams), cpu.Microseconds()/n))
			o.leave()
			reading.Wait()
			o.end()
		}
	}
}

var servingLine = regexp.MustCompile(`process: (\d+) requests`)

// servingNow returns how many requests a replica serves.
func servingNow(r *replica) int {
	m := servingLine.FindStringSubmatch(r.says("/readyz?verbose"))
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

var calls = regexp.MustCompile(`cmdstat_([a-z|]+):calls=(\d+)`)

// operations returns how many commands the Redis was sent, by their names.
func (c *cluster) operations() (n int, words string) {
	for _, m := range calls.FindAllStringSubmatch(c.tell("INFO commandstats"), -1) {
		switch m[1] {
		case "info", "ping", "config|resetstat", "config|get", "config|set", "client|setinfo", "hello", "select":
			continue // ours, and those of a connection
		}
		k, _ := strconv.Atoi(m[2])
		n += k
		words += " " + m[1] + " " + m[2]
	}
	return n, strings.TrimSpace(words)
}

var storeBytes = regexp.MustCompile(`(?m)^laconic_store_bytes_total\{direction="(sent|received)"\} (\S+)`)

// bytesOfRedis returns what replicas sent to the Redis, and what came from it.
func (c *cluster) bytesOfRedis() (sent, received float64) {
	c.t.Helper()
	for _, r := range c.replicas {
		all := storeBytes.FindAllStringSubmatch(r.says("/metrics"), -1)
		if len(all) != 2 {
			c.t.Fatalf("/metrics of replica %s tells %d of two directions", r.name, len(all))
		}
		for _, m := range all {
			n, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				c.t.Fatal(err)
			}
			if m[1] == "sent" {
				sent += n
			} else {
				received += n
			}
		}
	}
	return sent, received
}

// TestWhatRedisIsAsked prints how many commands it gets for a request, and how many
// bytes go to and fro.
func TestWhatRedisIsAsked(t *testing.T) {
	n := 40
	if full(t) {
		n = 400
	}
	c := start(t, setup{replicas: 3, config: "models: [{match: \"*\", budget: 9000}]\nsummarizer: {model: house-summaries, wait: 20s}\n"})
	key := "Authorization: Bearer sk-redis"
	small, long := conversation("gpt-4o", 2, 500, false), conversation("gpt-4o", 60, 1500, false)
	measure := func(name string, n int, f func()) {
		c.tell("CONFIG RESETSTAT")
		sentBefore, receivedBefore := c.bytesOfRedis()
		f()
		time.Sleep(300 * time.Millisecond) // what runs in the background
		all, words := c.operations()
		t.Logf("%s: %s", name, words)
		sent, received := c.bytesOfRedis()
		sent, received = sent-sentBefore, received-receivedBefore
		if all > 0 && (sent == 0 || received == 0) {
			t.Errorf("%s: %d commands, and %.0f bytes sent, %.0f received", name, all, sent, received)
		}
		note(t, "operations", fmt.Sprintf("| %s | %d | %.2f | %.0f | %.0f |\n", name, n, float64(all)/float64(n), sent/float64(n), received/float64(n)))
	}
	for _, r := range c.replicas {
		for _, body := range [][]byte{small, long} {
			if _, err := c.send("http://"+r.addr, body, key); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(300 * time.Millisecond) // what these asked in the background
	measure("of a credential that the process knows, nothing to do", n, func() { c.parallel(n, small, func(int) []string { return []string{key} }) })
	if all, words := c.operations(); all > 0 {
		t.Errorf("requests that needed nothing asked Redis: %s", words)
	}
	measure("the same, compacted as before", n, func() { c.parallel(n, long, func(int) []string { return []string{key} }) })
	measure("the first of a credential", n, func() {
		c.parallel(n, small, func(i int) []string { return []string{"Authorization: Bearer sk-new-" + strconv.Itoa(i)} })
	})
	grows := recordings(t, 100<<10, 300<<10)[:1]
	requests := len(grows[0].requests("gpt-4o", 40))
	measure("a conversation that grows, with summaries", requests, func() { c.replay(grows, 40) })
}
