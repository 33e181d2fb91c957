package proxy

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"laconic/proxy/summarize"
	"laconic/store"
	"laconic/store/storetest"
)

// sharedStores are n vaults on one Redis, as n processes have them.
func sharedStores(t testing.TB, n int) (all []*store.Vault) {
	t.Helper()
	url := storetest.StartRedis(t).URL()
	for range n {
		v, err := store.Open(store.Options{Kind: store.InRedis, URL: url, Secret: []byte("a secret of this test")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		all = append(all, v)
	}
	return all
}

// TestReplicasAskOnce: the same conversation reaches three processes at once;
// one asks, the others wait for what it gets, and all send the same bytes.
func TestReplicasAskOnce(t *testing.T) {
	open := make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	u := newUpstream(t, nil)
	var replicas []*running
	for _, v := range sharedStores(t, 3) {
		replicas = append(replicas, summarized(t, u, model, waiting, func(o *Options) { o.Summarizer.Store = v }))
	}
	var wg sync.WaitGroup
	for _, r := range replicas {
		wg.Go(func() { r.chat(history(long)) })
	}
	eventually(t, "one asks, and all wait", func() bool {
		waiting := 0
		for _, r := range replicas {
			waiting += int(r.SummaryCounts().Running)
		}
		return waiting == 3 && len(model.requests()) == 1
	})
	close(open)
	wg.Wait()
	for i, r := range replicas {
		if got := r.lastSummary(1); got.Outcome != summarize.Made {
			t.Errorf("replica %d: %+v", i, got)
		}
	}
	if n := len(model.requests()); n != 1 {
		t.Errorf("the summarizer was asked %d times", n)
	}
	for _, g := range u.requests() {
		if string(g.Body) != string(u.requests()[0].Body) || !strings.Contains(string(g.Body), "[Summary of") {
			t.Error("they did not send the same")
		}
	}
}

// TestAReplicaThatDoesNotWaitLeavesItToTheOther.
func TestAReplicaThatDoesNotWaitLeavesItToTheOther(t *testing.T) {
	open := make(chan struct{})
	model := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-open
		tells(answered(told, "stop"))(w, r)
	})
	u := newUpstream(t, nil)
	vaults := sharedStores(t, 2)
	a := summarized(t, u, model, func(o *Options) { o.Summarizer.Store = vaults[0] })
	b := summarized(t, u, model, func(o *Options) { o.Summarizer.Store = vaults[1] })
	a.chat(history(long))
	eventually(t, "the first asks", func() bool { return len(model.requests()) == 1 })
	b.chat(history(long))
	b.quietly()
	if c := b.SummaryCounts(); c.Failed["elsewhere"] != 1 {
		t.Errorf("%+v", c)
	}
	close(open)
	a.quietly()
	b.chat(history(long + 1))
	if got := b.lastSummary(2); got.Outcome != summarize.Hit {
		t.Errorf("%+v", got)
	}
	if n := len(model.requests()); n != 1 {
		t.Errorf("the summarizer was asked %d times", n)
	}
}
