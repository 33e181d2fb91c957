//go:build unix

package store

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// TestURLsOfRedisAsPeoplePasteThem.
func TestURLsOfRedisAsPeoplePasteThem(t *testing.T) {
	f := func(url string, want redis.UniversalOptions, secure bool) {
		t.Helper()
		got, tls, err := parseURL(url)
		if !reflect.DeepEqual(got, want) || tls != secure || err != nil {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", url, got, err, want)
		}
	}
	type options = redis.UniversalOptions
	f("redis://127.0.0.1:6379/3", options{Addrs: []string{"127.0.0.1:6379"}, DB: 3}, false)
	f("redis://h", options{Addrs: []string{"h:6379"}}, false)
	f("redis://h/?db=2", options{Addrs: []string{"h:6379"}, DB: 2}, false)
	f("valkeys://u:p%40@h:1", options{Addrs: []string{"h:1"}, Username: "u", Password: "p@"}, true)
	f("unix:///run/redis.sock?db=2", options{Addrs: []string{"/run/redis.sock"}, DB: 2}, false)
	f("redis+sentinel://u:p%2Fw@a,b:1,[::1]:2/m/4?sentinel_password=s", options{
		Addrs: []string{"a:26379", "b:1", "[::1]:2"}, Username: "u", Password: "p/w", MasterName: "m", DB: 4, SentinelPassword: "s",
	}, false)
	f("rediss+cluster://a:7000,b", options{IsClusterMode: true, Addrs: []string{"a:7000", "b:6379"}}, true)
	f("redis+cluster://:p@a/0", options{IsClusterMode: true, Addrs: []string{"a:6379"}, Password: "p"}, false)

	no := func(url, says string) {
		t.Helper()
		err := func() error { _, err := CheckURL(url); return err }()
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", url, err)
		}
		if shown := ShownURL(url); strings.Contains(shown, "canary") {
			t.Errorf("shown as %s", shown)
		}
	}
	no("https://u:canary@h", "is not one of Redis")
	no("redis://u:canary@a:1,b:2", "names several hosts")
	no("redis+sentinel://u:canary@a,b", "does not name the master")
	no("redis+sentinel://u:canary@a,b/m/x", "no number")
	no("redis+cluster://u:canary@a,b/1", "a Cluster has none")
	no("redis+cluster://u:canary@a,,b", "without a name")
	no("redis+cluster://u:canary@a:99999", "a port that is none")
	no("redis+cluster://u:canary%@a", "%25")
	no("redis+cluster://a?canary=1", "means nothing")
	no("redis+other://u:canary@a", "is not one of Redis")
	no("redis://u:canary@a:99999", "a port that is none")
	no("redis://u:canary@a/x", "no number")
	no("redis://u:canary@a/-1", "no number")
	no("redis://u:canary@a?db=x", "no number")
	no("unix://u:canary@/run/s?db=x", "no number")
	no("redis://u:canary@a?read_timeout=1s", "means nothing")
	no("redis+sentinel://u:canary@a/0", "a number in its place")
	if got := ShownURL("redis+sentinel://u:canary@a,b/m/1"); got != "redis+sentinel://a,b/m/1" {
		t.Error(got)
	}
}

// TestAPrefixKeepsTwoInstallationsApart, in one database; and a user whom the server
// lets at names with it alone needs no more.
func TestAPrefixKeepsTwoInstallationsApart(t *testing.T) {
	ctx := t.Context()
	server := storetest.StartRedis(t, append([]string{"--user"}, strings.Fields("laconic on >canary-password ~staging:* &staging:* +@read +@write +@connection +@scripting +@pubsub +ping")...)...)
	open := func(o Options) *Redis {
		o.URL = server.URL()
		o.Notice = func(line string) { t.Error(line) }
		s, err := NewRedis(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	one, other := open(Options{Username: "laconic", Password: "canary-password", Prefix: "staging:"}), open(Options{})
	mustPut(t, one, keyOf(1), []byte("text"), time.Hour)
	if all, err := server.Do("CLIENT LIST"); !strings.Contains(all, "user=laconic") {
		t.Errorf("nobody came as laconic: %q %v", all, err)
	}
	if release, ok, err := one.Lock(ctx, keyOf(1), time.Minute); !ok {
		t.Error(err)
	} else {
		release()
	}
	if err := one.Call(ctx, "word"); err != nil {
		t.Error(err)
	}
	if _, err := other.Get(ctx, keyOf(1)); !errors.Is(err, ErrMiss) {
		t.Errorf("the other finds it: %v", err)
	}
	if n, err := other.DeleteGroup(ctx, keyOf(1).Group()); n != 0 || err != nil {
		t.Errorf("the other removed %d, %v", n, err)
	}
	if n, err := one.DeleteGroup(ctx, keyOf(1).Group()); n != 1 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
}

// TestAPartitionHasOneSlot: all values of a partition, and their locks, are in one slot of a
// Cluster, and partitions in many.
func TestAPartitionHasOneSlot(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := startCluster(t)
	s := openTestRedis(t, c.URL(), nil)
	v := vaultOn(t, s, testSecret)
	slots := map[int64]bool{}
	for partition := range 20 {
		of := map[int64]bool{}
		for part := range 5 {
			name := s.named(v.Key(v.Group("g"), fmt.Sprint(partition), fmt.Sprint(part)))
			for _, name := range []string{name, name + lockSuffix} {
				slot, err := s.client.ClusterKeySlot(ctx, name).Result()
				if err != nil {
					t.Fatal(err)
				}
				of[slot], slots[slot] = true, true
			}
		}
		if len(of) != 1 {
			t.Errorf("partition %d is in %d slots", partition, len(of))
		}
	}
	if len(slots) < 15 {
		t.Errorf("20 partitions are in %d slots", len(slots))
	}
}

// TestAClusterGoesOnWithoutANode: what the others hold is read and written as before,
// and what that one held is asked for once, for no longer than Patience.
func TestAClusterGoesOnWithoutANode(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := startCluster(t, "--cluster-require-full-coverage", "no")
	var lines notices
	s := openTestRedis(t, c.URL(), lines.add)
	v := vaultOn(t, s, testSecret)
	var live, dead []Key
	for n := range 60 {
		k := v.Key(v.Group("g"), fmt.Sprint(n))
		if err := unhurried(s, func() error { return s.Put(ctx, k, []byte("text"), time.Hour) }); err != nil {
			t.Fatal(err)
		}
		if m, err := s.client.(*redis.ClusterClient).MasterForKey(ctx, s.named(k)); err != nil || m.Options().Addr == c.Nodes[2].Addr {
			dead = append(dead, k)
		} else {
			live = append(live, k)
		}
	}
	c.Nodes[2].Stall()
	// A machine that is busy may keep a live one from its answer, but not each time.
	rig.Eventually(t, "the others answer each time", func() bool {
		s.later()
		asked, lost := 0, 0
		for n, k := range live {
			began := time.Now()
			if _, err := s.Get(ctx, dead[n%len(dead)]); err == nil {
				t.Fatal("one that stands still gave an answer")
			} else if !errors.Is(err, ErrAbsent) {
				asked++
			}
			if time.Since(began) > 2*Patience {
				lost++
			}
			if err := s.Put(ctx, k, []byte("text"), time.Hour); err != nil {
				lost++
			}
			if _, err := s.Get(ctx, k); err != nil {
				lost++
			}
			if err := s.Call(ctx, "word"); err != nil {
				lost++
			}
		}
		return asked == 1 && lost == 0
	})
	if now := v.State(); now.Fault.Says != "the store does not answer: no answer in time" || !now.Silent {
		t.Errorf("%+v", now)
	}
	if got := lines.all(); strings.Contains(got, "again") {
		t.Errorf("it stands still, and told is %q", got)
	}
	c.Nodes[2].Continue()
	rig.Eventually(t, "all are there again", func() bool {
		s.later()
		for _, k := range append(live, dead...) {
			if _, err := s.Get(ctx, k); err != nil {
				return false
			}
		}
		return true
	})
	if got := lines.all(); !strings.Contains(got, "\nthe store answers again, after ") {
		t.Errorf("told %q", got)
	}
	if n, err := s.DeleteGroup(ctx, v.Group("g")); n != len(live)+len(dead) || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
}

// TestAnEraseOfAClusterWithoutServersFails as any other operation does: soon, told and counted.
func TestAnEraseOfAClusterWithoutServersFails(t *testing.T) {
	var lines notices
	s := openTestRedis(t, "redis+cluster://"+storetest.FreeAddress(t), lines.add)
	if _, err := s.DeleteGroup(t.Context(), Group{1}); err == nil {
		t.Error("nothing was there to erase, and there is no error")
	}
	if got := lines.all(); got != "the store does not answer: no connection" {
		t.Errorf("told %q", got)
	}
	if n, failed := s.operations[erasing].Load(), s.failed[erasing].Load(); n != 1 || failed != 1 {
		t.Errorf("%d operations, %d failed", n, failed)
	}
}

// TestAWordSaysNothingOfOtherServers: one server of a Cluster passes words on while another is
// silent, which stays left alone. A server that comes again has one node.
func TestAWordSaysNothingOfOtherServers(t *testing.T) {
	s := openTestRedis(t, "redis+cluster://"+storetest.FreeAddress(t), nil)
	for range 3 {
		s.watch(s.client, "gone:1")
	}
	if len(s.nodes) != 1 {
		t.Errorf("%d nodes of one address", len(s.nodes))
	}
	s.nodes["gone:1"].breaker.Open()
	s.noteHearing(nil)
	if s.nodes["gone:1"].breaker.IsClosed() {
		t.Error("the silent server is asked again")
	}
}

// TestSentinelsNameTheMaster.
func TestSentinelsNameTheMaster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	servers := startSentinels(t)
	s := openTestRedis(t, servers.URL(), nil)
	mustPut(t, s, keyOf(1), []byte("text"), time.Hour)
	if got, err := s.Get(ctx, keyOf(1)); string(got) != "text" {
		t.Fatalf("%q %v", got, err)
	}
	var lines notices
	unknown := openTestRedis(t, strings.Replace(servers.URL(), masterName, "another", 1), lines.add)
	if _, ok, err := unknown.Lock(ctx, keyOf(1), time.Minute); ok || err == nil {
		t.Errorf("a master that nobody knows: %v %v", ok, err)
	}
	var first notices
	listening(t, openTestRedis(t, strings.Replace(servers.URL(), masterName, "another", 1), first.add))
	rig.Eventually(t, "the operator is told", func() bool { return first.all() != "" })
	if got := first.all(); got != "the store does not answer: no sentinel knows the master" {
		t.Errorf("who listens is told %q", got)
	}
	if got := lines.all(); got != "the store does not answer: no sentinel knows the master" {
		t.Errorf("told %q", got)
	}
	if testing.Short() {
		return
	}
	rig.Eventually(t, "the replica has it", func() bool {
		reply, _ := servers.Replica.Do("DBSIZE")
		return strings.HasPrefix(reply, "1")
	})
	servers.Master.Stop()
	var longest time.Duration
	rig.Eventually(t, "what was kept is there after the master was killed", func() bool {
		began := time.Now()
		got, _ := s.Get(ctx, keyOf(1))
		longest = max(longest, time.Since(began))
		s.later()
		return string(got) == "text"
	})
	if longest > 2*Patience {
		t.Errorf("a request waited for %v", longest)
	}
	rig.Eventually(t, "it takes values again", func() bool { return s.Put(ctx, keyOf(2), []byte("new"), time.Hour) == nil })
}

// TestTrafficIsCounted: what is asked, and what failed.
func TestTrafficIsCounted(t *testing.T) {
	ctx := context.Background()
	server := storetest.StartRedis(t)
	s := openTestRedis(t, server.URL(), nil)
	v := vaultOn(t, s, testSecret)
	k := v.Key(v.Group("g"), "r")
	if got := v.State(); got.Operations["get"] != 0 {
		t.Errorf("before anything: %+v", got)
	}
	_, _ = v.Get(ctx, k)
	mustPutText(t, v, k, strings.Repeat("x", 10_000))
	for range 100 {
		_, _ = v.Get(ctx, k) // remembered
	}
	got := v.State()
	if got.Operations["get"] != 1 || got.Operations["put"] != 1 || got.Failed["get"] != 0 {
		t.Errorf("%+v", got)
	}
	server.Stop()
	for range 3 {
		_, _ = v.Latest(ctx, k)
	}
	if after := v.State(); after.Failed["get"] != 1 || after.Operations["get"] != 2 {
		t.Errorf("a server that is gone, asked once: %+v", after)
	}
	if got := vaultOn(t, openTestMemory(t), testSecret).State(); got.Operations != nil {
		t.Errorf("of memory: %+v", got)
	}
}

// TestTLSWithAnAuthorityOfOnesOwn: the server asks for a client's certificate, and the
// client for the right name.
func TestTLSWithAnAuthorityOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	ca, caKey := certificate(t, dir, "ca", nil, nil)
	certificate(t, dir, "server", ca, caKey)
	certificate(t, dir, "client", ca, caKey)
	file := func(name string) string { return filepath.Join(dir, name) }
	server := storetest.StartRedis(t, "--tls-cert-file", file("server.pem"), "--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.pem"))
	f := func(want string, files TLSFiles) {
		t.Helper()
		var lines notices
		s, err := NewRedis(Options{URL: "rediss://" + server.TLSAddr, TLS: files, Notice: lines.add})
		if err == nil {
			defer s.Close()
			err = s.Put(t.Context(), keyOf(1), []byte("text"), time.Hour)
		}
		if err == nil {
			outlivesClosed(t, server, s)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error()+lines.all(), want) {
			t.Errorf("%+v: %v, told %q; want %q", files, err, lines.all(), want)
		}
	}
	whole := TLSFiles{CA: file("ca.pem"), Cert: file("client.pem"), Key: file("client.key"), ServerName: "redis.test"}
	f("", whole)
	with := func(change func(*TLSFiles)) TLSFiles { c := whole; change(&c); return c }
	f("its certificate is not trusted", with(func(c *TLSFiles) { c.CA = "" }))
	f("its certificate is not trusted, or for another name", with(func(c *TLSFiles) { c.ServerName = "other.test" }))
	f("the store does not answer", with(func(c *TLSFiles) { c.Cert, c.Key = "", "" }))
	f("cert and key belong together", with(func(c *TLSFiles) { c.Key = "" }))
	f("ca cannot be read", with(func(c *TLSFiles) { c.CA = file("none") }))
	f("ca holds no certificate", with(func(c *TLSFiles) { c.CA = file("ca.key") }))
}

// TestADatabaseAndASocket: what is in one database is not in another, also by a socket.
func TestADatabaseAndASocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	server := storetest.StartRedis(t, "--unixsocket", socket)
	three := openTestRedis(t, strings.Replace(server.URL(), "/0", "/3", 1), nil)
	mustPut(t, three, keyOf(1), []byte("text"), time.Hour)
	for db, want := range map[string]string{"0": "", "3": "text"} {
		if got, err := openTestRedis(t, "unix://"+socket+"?db="+db, nil).Get(t.Context(), keyOf(1)); string(got) != want {
			t.Errorf("database %s has %q, %v", db, got, err)
		}
	}
}

// outlivesClosed has the server close the idle connections of a store, as servers and
// what is between do after a time, and asks again.
func outlivesClosed(t *testing.T, server *storetest.Redis, s *Redis) {
	t.Helper()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = s.Get(t.Context(), keyOf(7)) })
	}
	all.Wait()
	if reply, err := server.Do("CLIENT KILL TYPE normal"); err != nil || reply == "0" {
		t.Fatalf("no connection was closed: %q %v", reply, err)
	}
	for range 8 {
		if err := unhurried(s, func() error { _, err := s.Get(t.Context(), keyOf(7)); return err }); !errors.Is(err, ErrMiss) {
			t.Errorf("after the server closed its connections: %v", err)
		}
	}
}

// certificate writes a certificate for redis.test and its key, signed by parent.
func certificate(t *testing.T, dir, name string, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"redis.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: parent == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, block := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		fileOf(t, filepath.Join(dir, name+suffix), pem.EncodeToMemory(block))
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return c, key
}
