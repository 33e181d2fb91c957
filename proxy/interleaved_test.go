package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// agent is one conversation that grows: its requests, and the headers that they carry
// beside the credential that all agents have.
type agent struct {
	name    string
	bodies  []string
	headers []string
	foreign *regexp.Regexp // what only other conversations say
	bound   bool           // so is its thinking
}

// agents are conversations of one client with one model. Some share their
// instructions, tools, task or first rounds, and they are folded at different points
// or not at all.
func agents(rounds int) (all []*agent) {
	const (
		brief, careful = "be brief", "be careful, and say what you do before you do it"
		read, write    = "read them", "write it down"
		tools          = `,"tools":[{"type":"function","function":{"name":"read","description":"reads a file","parameters":{"type":"object"}}}]`
	)
	// The first rounds are those of agent a.
	add := func(name string, shared, n int, system, task, tools string, headers ...string) *agent {
		a := &agent{name: name, headers: headers, foreign: regexp.MustCompile("mark_[^" + name + "]")}
		if shared > 0 {
			a.foreign = regexp.MustCompile("mark_[^a" + name + "]")
		}
		for i := range n {
			a.bodies = append(a.bodies, agentSays(name, shared, i+1, system, task, tools))
		}
		all = append(all, a)
		return a
	}
	add("a", rounds, rounds, brief, read, tools)
	add("b", rounds/2, rounds, brief, read, tools)
	add("c", rounds/2+3, rounds, brief, read, tools)
	add("d", rounds/3, rounds, brief, read, strings.Replace(tools, "a file", "a file"+strings.Repeat(" or another one", 60), 1))
	add("e", 0, rounds, brief, read, tools)
	add("f", 0, rounds, brief, write, tools)
	add("g", 0, rounds, careful, read, "")
	add("h", rounds/8, rounds/4, brief, read, tools) // never folded
	add("j", rounds/2+6, rounds, brief, read, tools, "X-Laconic-Budget", "3000")
	signed := add("k", 0, rounds, brief, read, tools)
	signed.bound = true
	for i, body := range signed.bodies {
		signed.bodies[i] = strings.ReplaceAll(body, `"content":null,`, `"content":null,"thinking_blocks":[{"type":"thinking","thinking":"so it is","signature":"Eq"}],`)
	}
	return all
}

// agentSays returns the request of an agent after n rounds. Each round has a mark,
// and the first ones are those of agent a.
func agentSays(name string, shared, n int, system, task, tools string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":%q}`, system, task)
	for i := range n {
		who := name
		if i < shared {
			who = "a"
		}
		if who >= "f" && i%6 == 5 {
			b.WriteString(`,{"role":"assistant","content":"done so far"},{"role":"user","content":"go on"}`)
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"mark_%s%d %s"}`, i, who, i, strings.Repeat(fmt.Sprintf("line %d of %s. ", i, who), 60))
	}
	b.WriteString(`]` + tools + `}`)
	return b.String()
}

// turnHeader names a request to the upstream.
const turnHeader = "X-Turn"

// counting is an upstream whose window is smaller than was configured, and which counts
// more than the proxy does. It shows both.
type counting struct {
	window int // 0: it takes everything
	mu     sync.Mutex
	seen   map[string][]string // the bodies by the names of their requests
}

func (u *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	name := r.Header.Get(turnHeader)
	u.mu.Lock()
	u.seen[name] = append(u.seen[name], string(body))
	u.mu.Unlock()
	req, err := wire.Chat.Decode(body)
	if err != nil {
		return nil, err
	}
	c := compact.BytesPerToken(3.5)
	n := (c.Fixed(compact.Beside{Tools: req.Tools}) + compact.CostAll(c, req.Conversation.Messages)) * 117 / 100
	status, answer := http.StatusOK, fmt.Sprintf(`{"id":"x","choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":2}}`, n)
	if u.window > 0 && n > u.window {
		status, answer = http.StatusBadRequest, fmt.Sprintf(`{"error":{"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, n, u.window, n, u.window)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)), Request: r,
	}, nil
}

// pinned is a store of facts that has some from the start and keeps no others.
type pinned learn.Facts

func (p pinned) Load(context.Context, learn.Key) (learn.Facts, bool) { return learn.Facts(p), true }
func (pinned) Save(context.Context, learn.Key, learn.Facts) bool     { return true }
func (pinned) Watch(context.Context, func(learn.Key), func())        {}

// pin returns a store of the facts that a plan was made under.
func pin(f learn.Facts) learn.Store {
	until := time.Now().Add(30 * time.Minute)
	for _, n := range []*learn.Fact[int]{&f.Window, &f.Input, &f.Messages, &f.Bytes, &f.Hard} {
		n.Until = until
	}
	f.Count.Until, f.Demands.Until = until, until
	return pinned(f)
}

// traffic is what a proxy made of the requests of agents.
type traffic struct {
	*running
	upstream *counting
	mu       sync.Mutex
	planned  map[string][]learn.Facts // what each body of a request was planned under
}

// plan notes the facts of a plan.
func (f *traffic) plan(i ReplyInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned[i.Tags] = append(f.planned[i.Tags], i.Rewrite.Facts)
}

// inTraffic starts a proxy that learns windows and counts.
func inTraffic(t *testing.T, window int, facts learn.Store) *traffic {
	t.Helper()
	f := &traffic{upstream: &counting{window: window, seen: map[string][]string{}}, planned: map[string][]learn.Facts{}}
	o := options(parseURL(t, "http://upstream/v1"))
	calibrating(&o)
	o.Transport, o.Facts, o.Store = f.upstream, facts, lasting(t, "a secret of this test")
	o.Default.Policy, o.Default.Counter = &compact.Policy{Name: "adaptive", Ladder: stage.Default()}, compact.BytesPerToken(3.5)
	o.Listener = Listener{
		Rewritten: f.plan,
		Replied: func(i ReplyInfo) {
			if i.Outcome == Retried {
				f.plan(i)
			}
		},
	}
	f.running = start(t, o)
	return f
}

// send sends a request of an agent, and returns its name.
func (f *traffic) send(a *agent, turn int) string {
	f.t.Helper()
	name := fmt.Sprint(a.name, turn)
	headers := append([]string{"Authorization", "Bearer one", "X-Laconic-Tags", name, turnHeader, name}, a.headers...)
	f.chat(a.bodies[turn], headers...).want(f.t, http.StatusOK, name)
	return name
}

// TestInterleavedAgentsDoNotTouchEachOthersPlans: agents with one credential speak all
// at once. What the upstream sees of each is what it would see of that one alone, each
// time in a new process, under the same facts. The facts are all that may differ:
// windows and counts are learnt from the traffic of all.
func TestInterleavedAgentsDoNotTouchEachOthersPlans(t *testing.T) {
	const window = 5000
	rounds := 36
	if testing.Short() {
		rounds = 24
	}
	all, total := agents(rounds), 0
	together := inTraffic(t, window, nil)
	var wg sync.WaitGroup
	for _, a := range all {
		total += len(a.bodies)
		wg.Go(func() {
			for turn := range a.bodies {
				together.send(a, turn)
			}
		})
	}
	wg.Wait()
	untouched := 0
	for _, r := range together.replies(total) {
		if r.Outcome == Untouched {
			untouched++
		}
	}
	together.stop()
	known, retried := map[string]int{}, 0
	for _, a := range all {
		for turn := range a.bodies {
			name := fmt.Sprint(a.name, turn)
			bodies, facts := together.upstream.seen[name], together.planned[name]
			if len(bodies) == 0 || len(bodies) != len(facts) {
				t.Fatalf("%s: %d bodies of %d plans", name, len(bodies), len(facts))
			}
			retried += len(bodies) - 1
			if found := a.foreign.FindString(strings.Join(bodies, "")); found != "" {
				t.Errorf("%s holds %s…", name, found)
			}
			compared := bodies
			if a.bound {
				facts = facts[:1] // more than the facts makes the second: all thinking leaves
			}
			for i, f := range facts {
				known[fmt.Sprint(f)]++
				if a.bound && !f.Equal(f.ForBound()) {
					t.Errorf("%s is planned by what others showed: %+v", name, f)
				}
				refusing := window
				if !a.bound {
					refusing, compared = 0, bodies[i:i+1]
				}
				alone := inTraffic(t, refusing, pin(f))
				alone.send(a, turn)
				alone.stop()
				if want := alone.upstream.seen[name]; !slices.Equal(compared, want) {
					t.Fatalf("%s, body %d, under %+v: among others\n%s\nalone\n%s", name, i, f, compared, want)
				}
			}
		}
	}
	if untouched == 0 || retried == 0 || len(known) < 3 {
		t.Errorf("%d requests, of which %d untouched and %d retried, under %d facts: this compares too little", total, untouched, retried, len(known))
	}
}
