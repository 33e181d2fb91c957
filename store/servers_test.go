package store

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// sentinels are a master, its replica, and the sentinels that watch them.
type sentinels struct {
	Master, Replica *storetest.Redis
	Watch           []*storetest.Redis
}

// masterName is what the sentinels call their master.
const masterName = "laconic-test"

// startSentinels starts a master with a replica, and three sentinels that take half a
// second of silence for its end.
func startSentinels(t testing.TB) *sentinels {
	t.Helper()
	s := &sentinels{Master: storetest.StartRedis(t)}
	host, port, _ := net.SplitHostPort(s.Master.Addr)
	s.Replica = storetest.StartRedis(t, "--replicaof", host, port, "--repl-diskless-sync-delay", "0")
	for range 3 {
		addr := storetest.FreeAddress(t)
		_, own, _ := net.SplitHostPort(addr)
		file := filepath.Join(t.TempDir(), "sentinel.conf")
		text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor %s %s %s 2\nsentinel down-after-milliseconds %s 500\nsentinel failover-timeout %s 3000\nloglevel warning\ndir %s\n",
			own, masterName, host, port, masterName, masterName, t.TempDir())
		fileOf(t, file, []byte(text))
		s.Watch = append(s.Watch, storetest.StartAt(t, addr, file, "--sentinel"))
	}
	// A failover needs that they know each other and the replica.
	for _, w := range s.Watch {
		until(t, w, "SENTINEL MASTER "+masterName, func(reply string) bool {
			return strings.Contains(reply, "num-other-sentinels 2") && strings.Contains(reply, "num-slaves 1")
		})
	}
	until(t, s.Replica, "INFO replication", func(reply string) bool { return strings.Contains(reply, "master_link_status:up") })
	return s
}

// URL is what a client connects to.
func (s *sentinels) URL() string {
	var hosts []string
	for _, w := range s.Watch {
		hosts = append(hosts, w.Addr)
	}
	return "redis+sentinel://" + strings.Join(hosts, ",") + "/" + masterName + "/0"
}

// testCluster is a Redis Cluster of three masters.
type testCluster struct{ Nodes []*storetest.Redis }

// startCluster starts a Cluster of three masters, with a third of the slots each. args are
// further words of their command lines.
func startCluster(t testing.TB, args ...string) *testCluster {
	t.Helper()
	c := &testCluster{}
	for i := range 3 {
		_, bus, _ := net.SplitHostPort(storetest.FreeAddress(t))
		n := storetest.StartRedis(t, append([]string{"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "2000"}, args...)...)
		c.Nodes = append(c.Nodes, n)
		do(t, n, fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
		do(t, n, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*16384/3, (i+1)*16384/3-1))
		if i > 0 {
			host, port, _ := net.SplitHostPort(n.Addr)
			do(t, c.Nodes[0], "CLUSTER MEET "+host+" "+port+" "+bus)
		}
	}
	for _, n := range c.Nodes {
		until(t, n, "CLUSTER INFO", func(reply string) bool {
			return strings.Contains(reply, "cluster_state:ok") && strings.Contains(reply, "cluster_known_nodes:3") &&
				strings.Contains(reply, "cluster_slots_assigned:16384") // else it sends who asks to another one, which sends on
		})
	}
	return c
}

// URL is what a client connects to: two of the nodes, which name the third.
func (c *testCluster) URL() string {
	return "redis+cluster://" + c.Nodes[0].Addr + "," + c.Nodes[1].Addr
}

func do(t testing.TB, r *storetest.Redis, command string) {
	t.Helper()
	if reply, err := r.Do(command); err != nil {
		t.Fatalf("%s: %q %v", command, reply, err)
	}
}

// until repeats a command until its reply is as wanted.
func until(t testing.TB, r *storetest.Redis, command string, want func(reply string) bool) {
	t.Helper()
	var reply string
	if !rig.Soon(func() bool { reply, _ = r.Do(command); return want(reply) }) {
		t.Fatalf("%s: %s", command, reply)
	}
}
