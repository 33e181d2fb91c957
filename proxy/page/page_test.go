package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy"
	"laconic/proxy/learn"
	"laconic/proxy/operate"
	"laconic/proxy/why"
	"laconic/proxy/wire"
	"laconic/view"
)

// seen is a proxy of which no more is known than its upstreams.
type seen struct {
	*proxy.Proxy
	upstreams []operate.Upstream
}

func (s seen) State() proxy.State        { return proxy.State{Upstreams: s.upstreams} }
func (seen) Options() proxy.Options      { return proxy.Options{} }
func (seen) LearntModels() []learn.Known { return nil }

// newPage makes the page of such a proxy.
func newPage(o Options, upstreams ...operate.Upstream) *Page {
	o.Proxy = func() Proxy { return seen{nil, upstreams} }
	o.Settings = func() string { return "" }
	o.Store = func() []why.Finding { return nil }
	o.Findings = o.Store
	return New(o)
}

// sent lets a page see one request of a conversation.
func sent(p *Page, id, transcript string, t *testing.T, budget int) {
	t.Helper()
	in := compact.Conversation{Messages: compacttest.Messages(t, transcript)}
	c := compact.BytesPerToken(1)
	plan, report := compact.Compact(in, &compact.Policy{Name: "test"}, c, compact.Budget{Tokens: budget})
	p.planned(proxy.PlanInfo{ID: id, Planned: view.Planned{Conversation: in, Sent: plan.Apply(), Plan: &plan, Counter: c}})
	i := proxy.RewriteInfo{Model: "m", Outcome: proxy.Outcome(report.Outcome), Report: report}
	p.noted(proxy.ReplyInfo{ID: id, Rewrite: &i, Outcome: i.Outcome})
	p.replied(proxy.ReplyInfo{ID: id, Wire: "chat", Rewrite: &i, Outcome: i.Outcome, Status: 200, Usage: &wire.Usage{Prompt: 10, Cached: 4, CacheStated: true}})
}

func TestNothingOfATextIsKept(t *testing.T) {
	p := newPage(Options{})
	sent(p, "one", "user: canary of a question\nassistant: canary of an answer\nuser: more canaries", t, 1000)
	v := p.since(0)
	for _, value := range []any{v, p.byID["one"].view()} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "canar") || !strings.Contains(string(text), `"one"`) {
			t.Errorf("%s", text)
		}
	}
	if d := p.byID["one"].details; len(d.Messages) != 3 || d.Messages[1].Role != compact.Assistant || !slices.Equal(d.Fates, []view.Fate{{State: view.Kept, Count: 3}}) {
		t.Errorf("%+v", d)
	}
}

func TestRequestsOfOneConversationAreToldFromOthers(t *testing.T) {
	p := newPage(Options{})
	for i, c := range []struct {
		transcript string
		want       int
	}{
		{"user: hi", 1},
		{"user: hi\nassistant: hello\nuser: a", 1},
		{"user: hi", 2}, // another that begins the same
		{"user: hi\nassistant: hello\nuser: a\nassistant: b\nuser: c", 1},
		{"user: hi\nassistant: good day\nuser: a", 2},
		{"user: hi\nassistant: good day\nuser: a\nassistant: b\nuser: d", 2},
		{"system: other instructions\nuser: hi\nassistant: hello\nuser: a", 1}, // they may hold the time of day
		{"user: something else", 3},
		{"system: no user spoke", 0},
	} {
		id := fmt.Sprint(i)
		sent(p, id, c.transcript, t, 1000)
		got := 0
		if thread := p.byID[id].thread; thread != nil {
			got = thread.ID
		}
		if got != c.want {
			t.Errorf("%q: conversation %d, want %d", c.transcript, got, c.want)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	p := newPage(Options{})
	for i := range 3 * mostRequests {
		sent(p, fmt.Sprint(i), fmt.Sprintf("user: number %d", i), t, 1000)
	}
	if len(p.requests) != mostRequests || len(p.byID) != mostRequests || p.size > mostBytes {
		t.Errorf("%d requests, %d by id, %d bytes", len(p.requests), len(p.byID), p.size)
	}
	if n := len(p.threads); n != mostThreads {
		t.Errorf("%d conversations", n)
	}
	one := &thread{}
	for range 3*mostPoints + 10 {
		p.account(&request{thread: one, reply: proxy.ReplyInfo{Rewrite: &proxy.RewriteInfo{}}})
	}
	if len(one.Points) != mostPoints || len(one.Points)+one.More != 3*mostPoints+10 {
		t.Errorf("%d points and %d more", len(one.Points), one.More)
	}
}

func TestClientsAreNamedAsTheConfigurationNamesThem(t *testing.T) {
	for want, of := range map[string]proxy.Sender{
		"ALICE": {Key: "ALICE", Credential: [32]byte{1}}, "no key": {}, "key abcdef": {Credential: [32]byte{0xab, 0xcd, 0xef}},
	} {
		if got := nameOf(of); got != want {
			t.Errorf("%+v is %q, want %q", of, got, want)
		}
	}
}

// The cost of an epoch is counted beside its savings.
func TestWhatEpochsCostIsNotHidden(t *testing.T) {
	p := newPage(Options{})
	one := &thread{}
	f := func(before, after, epochs int, u wire.Usage, want totals) {
		t.Helper()
		i := &proxy.RewriteInfo{NewEpoch: epochs > one.epochs, Report: compact.Report{Before: before, After: after, Epochs: epochs}}
		p.account(&request{thread: one, reply: proxy.ReplyInfo{ID: "x", Rewrite: i, Status: 200, Usage: &u}})
		if got := one.Totals; got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	f(900, 900, 0, wire.Usage{Prompt: 900, CacheStated: true}, totals{Stated: 1, Requests: 1, Before: 900, Sent: 900, Prompt: 900})
	f(1000, 1000, 0, wire.Usage{Prompt: 1000, Cached: 900, CacheStated: true}, totals{Stated: 2, Requests: 2, Before: 1900, Sent: 1900, Prompt: 1900, Cached: 900})
	// 400 were sent: 50 are new, 100 came from the cache, and 250 had been there before
	// the epoch.
	f(1050, 400, 1, wire.Usage{Prompt: 400, Cached: 100, CacheStated: true}, totals{
		Requests: 3, Before: 2950, Sent: 2300, Prompt: 2300, Cached: 1000, Epochs: 1, Rewritten: 250, Stated: 3,
	})
	// An answer that tells nothing of a cache adds nothing.
	f(1050, 400, 1, wire.Usage{Prompt: 400}, totals{
		Requests: 4, Before: 4000, Sent: 2700, Prompt: 2300, Cached: 1000, Epochs: 1, Rewritten: 250, Stated: 3,
	})
}

// Requests that reached no upstream were neither sent nor saved.
func TestWhatWasNotSentSavesNothing(t *testing.T) {
	p := newPage(Options{})
	sent(p, "one", "user: hi", t, 1000)
	before := p.totals
	i := proxy.RewriteInfo{NewEpoch: true, Outcome: proxy.Compacted, Report: compact.Report{Before: 900, After: 300, Epochs: 1, MessagesAfter: 3}}
	p.planned(proxy.PlanInfo{ID: "two", Planned: view.Planned{
		Conversation: compact.Conversation{Messages: compacttest.Messages(t, "user: hi")}, Plan: &compact.Plan{}, Counter: compact.BytesPerToken(1),
	}})
	p.noted(proxy.ReplyInfo{ID: "two", Rewrite: &i, Outcome: i.Outcome})
	p.replied(proxy.ReplyInfo{ID: "two", Wire: "chat", Rewrite: &i, Outcome: i.Outcome, Status: 502, Unsent: true})
	before.Unsent = 1
	if p.totals != before {
		t.Errorf("got  %+v\nwant %+v", p.totals, before)
	}
	r := p.byID["two"]
	if l := r.line(); !l.Unsent || l.Sent != 0 || l.MessagesSent != 0 || l.Before != 900 {
		t.Errorf("%+v", l)
	}
	if last := r.thread.Points[len(r.thread.Points)-1]; !last.Unsent || last.Sent != 0 || last.Epoch || r.thread.epochs != 0 {
		t.Errorf("%+v", last)
	}
}

// No page lets a browser load, run or frame anything that is not its own.
func TestEveryPageIsClosed(t *testing.T) {
	for _, page := range newPage(Options{}).Pages() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodHead, page.Path, nil)
		page.Handler.ServeHTTP(w, r)
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: %q", page.Path, policy)
		}
	}
	forbidden := regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|https?://[^w]| style="| on[a-z]+="|<script>`)
	for _, files := range []embed.FS{static, view.Files} {
		err := fs.WalkDir(files, "static", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := files.ReadFile(path)
			for _, found := range forbidden.FindAllString(string(text), -1) {
				t.Errorf("%s has %q", path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
