package storetest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Sentinels are a master, its replica, and the sentinels that watch them.
type Sentinels struct {
	Master, Replica *Redis
	Watch           []*Redis
}

// MasterName is what the sentinels call their master.
const MasterName = "laconic-test"

// SentinelPassword is what sentinels ask for that were given certificates.
const SentinelPassword = "canary-of-sentinels"

// StartSentinels starts a master with a replica, and three sentinels that take half a
// second of silence for its end. secured are the words of a command line that name
// certificates; then all of them speak TLS, and the sentinels ask for a password.
func StartSentinels(t testing.TB, secured ...string) *Sentinels {
	t.Helper()
	if secured != nil {
		secured = append(secured, "--tls-replication", "yes")
	}
	s := &Sentinels{Master: StartRedis(t, secured...)}
	host, port := s.Master.forPeers()
	s.Replica = StartRedis(t, append([]string{"--replicaof", host, port, "--repl-diskless-sync-delay", "0"}, secured...)...)
	for range 3 {
		w := &Redis{Addr: FreeAddress(t)}
		_, own, _ := net.SplitHostPort(w.Addr)
		file := filepath.Join(t.TempDir(), "sentinel.conf")
		text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor %s %s %s 2\nsentinel down-after-milliseconds %s 500\nsentinel failover-timeout %s 3000\nloglevel warning\ndir %s\n",
			own, MasterName, host, port, MasterName, MasterName, t.TempDir())
		words := append(secured, w.tlsPort(t, secured)...)
		for i := 0; i+1 < len(words); i += 2 {
			text += strings.TrimPrefix(words[i], "--") + " " + words[i+1] + "\n"
		}
		if secured != nil {
			w.password = SentinelPassword
			text += "requirepass " + SentinelPassword + "\nsentinel sentinel-pass " + SentinelPassword + "\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.args = []string{program(t), file, "--sentinel"}
		w.Start(t)
		t.Cleanup(w.Stop)
		s.Watch = append(s.Watch, w)
	}
	// A failover needs that they know each other and the replica.
	for _, w := range s.Watch {
		w.until(t, "SENTINEL MASTER "+MasterName, func(reply string) bool {
			return strings.Contains(reply, "num-other-sentinels\r\n$1\r\n2\r\n") && strings.Contains(reply, "num-slaves\r\n$1\r\n1\r\n")
		})
	}
	s.Replica.until(t, "INFO replication", func(reply string) bool { return strings.Contains(reply, "master_link_status:up") })
	return s
}

// URL is what a client connects to; it has no password.
func (s *Sentinels) URL() string {
	var hosts []string
	for _, w := range s.Watch {
		hosts = append(hosts, cmp.Or(w.TLSAddr, w.Addr))
	}
	return s.Master.scheme() + "+sentinel://" + strings.Join(hosts, ",") + "/" + MasterName + "/0"
}

func (r *Redis) scheme() string {
	if r.TLSAddr != "" {
		return "rediss"
	}
	return "redis"
}

// Cluster is a Redis Cluster of three masters.
type Cluster struct{ Nodes []*Redis }

// StartCluster starts a Cluster of three masters, with a third of the slots each. args are
// further words of their command lines.
func StartCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{}
	for i := range 3 {
		_, bus, _ := net.SplitHostPort(FreeAddress(t))
		n := StartRedis(t, append([]string{"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "2000"}, args...)...)
		c.Nodes = append(c.Nodes, n)
		n.do(t, fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
		n.do(t, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*16384/3, (i+1)*16384/3-1))
		if i > 0 {
			host, port := n.forPeers()
			c.Nodes[0].do(t, "CLUSTER MEET "+host+" "+port+" "+bus)
		}
	}
	for _, n := range c.Nodes {
		n.until(t, "CLUSTER INFO", func(reply string) bool {
			return strings.Contains(reply, "cluster_state:ok") && strings.Contains(reply, "cluster_known_nodes:3") &&
				strings.Contains(reply, "cluster_slots_assigned:16384") // else it sends who asks to another one, which sends on
		})
	}
	return c
}

// URL is what a client connects to: two of the nodes, which name the third.
func (c *Cluster) URL() string {
	one, other := c.Nodes[0], c.Nodes[1]
	return one.scheme() + "+cluster://" + cmp.Or(one.TLSAddr, one.Addr) + "," + cmp.Or(other.TLSAddr, other.Addr)
}

// Do sends a command, in one line, and returns the reply as it comes.
func (r *Redis) Do(command string) (string, error) {
	c, err := net.DialTimeout("tcp", r.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	answers := bufio.NewReader(c)
	if r.password != "" {
		if _, err := io.WriteString(c, "AUTH "+r.password+"\r\n"); err != nil {
			return "", err
		}
		if text, err := reply(answers); err != nil || text != "+OK\r\n" {
			return text, err
		}
	}
	if _, err := io.WriteString(c, command+"\r\n"); err != nil {
		return "", err
	}
	return reply(answers)
}

// reply reads one reply whole.
func reply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil || line == "" {
		return line, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch {
	case line[0] == '$' && n >= 0:
		text := make([]byte, n+2)
		_, err = io.ReadFull(r, text)
		return line + string(text), err
	case line[0] == '*':
		for range n {
			item, err := reply(r)
			if line += item; err != nil {
				return line, err
			}
		}
	}
	return line, nil
}

func (r *Redis) do(t testing.TB, command string) {
	t.Helper()
	if reply, err := r.Do(command); err != nil || !strings.HasPrefix(reply, "+OK") {
		t.Fatalf("%s: %q %v", command, reply, err)
	}
}

// until repeats a command until its reply is as wanted, for twenty seconds.
func (r *Redis) until(t testing.TB, command string, want func(reply string) bool) {
	t.Helper()
	var reply string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if reply, _ = r.Do(command); want(reply) {
			return
		}
	}
	t.Fatalf("%s: %s", command, reply)
}

// program returns redis-server or valkey-server. Where neither is installed the test
// is skipped, but with LACONIC_NO_SKIP it fails.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("LACONIC_NO_SKIP") != "" {
		t.Fatal("no redis-server here (apt install redis-server)")
	}
	t.Skip("no redis-server here (apt install redis-server)")
	return ""
}
