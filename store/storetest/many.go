package storetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Sentinels are a master, its replica, and the sentinels that watch them.
type Sentinels struct {
	Master, Replica *Redis
	Watch           []*Redis
}

// MasterName is what the sentinels call their master.
const MasterName = "laconic-test"

// StartSentinels starts a master with a replica, and three sentinels that take half a
// second of silence for its end.
func StartSentinels(t testing.TB) *Sentinels {
	t.Helper()
	s := &Sentinels{Master: StartRedis(t)}
	host, port, _ := net.SplitHostPort(s.Master.Addr)
	s.Replica = StartRedis(t, "--replicaof", host, port, "--repl-diskless-sync-delay", "0")
	for range 3 {
		w := &Redis{Addr: FreeAddress(t)}
		_, own, _ := net.SplitHostPort(w.Addr)
		file := filepath.Join(t.TempDir(), "sentinel.conf")
		text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor %s %s %s 2\nsentinel down-after-milliseconds %s 500\nsentinel failover-timeout %s 3000\nloglevel warning\ndir %s\n",
			own, MasterName, host, port, MasterName, MasterName, t.TempDir())
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
			return strings.Contains(reply, "num-other-sentinels 2") && strings.Contains(reply, "num-slaves 1")
		})
	}
	s.Replica.until(t, "INFO replication", func(reply string) bool { return strings.Contains(reply, "master_link_status:up") })
	return s
}

// URL is what a client connects to.
func (s *Sentinels) URL() string {
	var hosts []string
	for _, w := range s.Watch {
		hosts = append(hosts, w.Addr)
	}
	return "redis+sentinel://" + strings.Join(hosts, ",") + "/" + MasterName + "/0"
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
			host, port, _ := net.SplitHostPort(n.Addr)
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
	return "redis+cluster://" + c.Nodes[0].Addr + "," + c.Nodes[1].Addr
}

// Do sends a command, in one line, and returns its reply as text.
func (r *Redis) Do(command string) (string, error) {
	c := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, PoolSize: 1, DisableIdentity: true, Protocol: 2})
	defer c.Close()
	words := make([]any, 0, 8)
	for _, word := range strings.Fields(command) {
		words = append(words, word)
	}
	reply, err := c.Do(context.Background(), words...).Result()
	return fmt.Sprint(reply), err
}

func (r *Redis) do(t testing.TB, command string) {
	t.Helper()
	if reply, err := r.Do(command); err != nil {
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
