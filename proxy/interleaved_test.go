package proxy

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
	"laconic/store"
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
	add("i", rounds/2, rounds, brief, read, tools, "X-Laconic-Policy", "summary")
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

// mark is that of a round, or in a summary that of several, as in mark_a3to9.
var mark = regexp.MustCompile(`mark_([a-z])(\d+)(?:to(\d+))?`)

// marked returns the marks in a text, each once, as short as they can be.
func marked(text string) string {
	rounds := map[string]map[int]bool{}
	for _, m := range mark.FindAllStringSubmatch(text, -1) {
		if rounds[m[1]] == nil {
			rounds[m[1]] = map[int]bool{}
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for i := from; i <= max(from, to); i++ {
			rounds[m[1]][i] = true
		}
	}
	var all strings.Builder
	for _, who := range slices.Sorted(maps.Keys(rounds)) {
		of := rounds[who]
		for _, i := range slices.Sorted(maps.Keys(of)) {
			switch {
			case !of[i-1] && of[i+1]:
				fmt.Fprintf(&all, " mark_%s%dto", who, i)
			case !of[i-1]:
				fmt.Fprintf(&all, " mark_%s%d", who, i)
			case !of[i+1]:
				fmt.Fprint(&all, i)
			}
		}
	}
	return all.String()
}

// marking is a summarizer that names the marks it was shown, in the transcript or in
// the summary so far: of one gap it says the same in however many steps.
type marking struct{ asked atomic.Int64 }

func (m *marking) RoundTrip(r *http.Request) (*http.Response, error) {
	m.asked.Add(1)
	body, err := io.ReadAll(r.Body)
	text := answered("State: what was read so far has the marks"+marked(string(body)), "stop")
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, err
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

// pin returns a store of the facts that a plan was made under.
func pin(f learn.Facts) learn.Store {
	until := time.Now().Add(30 * time.Minute)
	for _, n := range []*learn.Fact[int]{&f.Window, &f.Input, &f.Messages, &f.Bytes, &f.Hard} {
		n.Until = until
	}
	f.Count.Until, f.Shape.Until = until, until
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
func (f *traffic) plan(i *RewriteInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned[i.Tags] = append(f.planned[i.Tags], i.Facts)
}

// inTraffic starts a proxy that learns windows and counts, with a summarizer unless
// model is nil.
func inTraffic(t *testing.T, window int, model *marking, vault *store.Vault, facts learn.Store) *traffic {
	t.Helper()
	f := &traffic{upstream: &counting{window: window, seen: map[string][]string{}}, planned: map[string][]learn.Facts{}}
	o := options(parseURL(t, "http://upstream/v1"))
	calibrating(&o)
	o.Transport, o.Facts, o.FactsSecret = f.upstream, facts, "a secret of this test"
	o.Default.Policy, o.Default.Counter = &compact.Policy{Name: "adaptive", Ladder: stage.Default()}, compact.BytesPerToken(3.5)
	o.PolicyNamed = func(name string) *compact.Policy {
		p, err := policy.New(name, nil)
		if err != nil {
			t.Error(err)
		}
		return p
	}
	o.Listener = Listener{
		Rewritten: func(i RewriteInfo) { f.plan(&i) },
		Replied: func(i ReplyInfo) {
			if i.Outcome == Retried {
				f.plan(i.Rewrite)
			}
		},
	}
	if model != nil {
		o.Summarizer = &summarize.Options{
			Upstream: parseURL(t, "http://summarizer/v1"), Transport: model, Model: "small", ClientCredential: true, Counter: compact.BytesPerToken(3.5),
			Store: vault, Wait: time.Minute, WaitUnfolded: time.Minute, Workers: 100,
		}
	}
	f.running = start(t, o)
	return f
}

// send sends a request of an agent, and returns its name.
func (f *traffic) send(a *agent, turn int) string {
	f.t.Helper()
	name := fmt.Sprint(a.name, turn)
	res := f.chat(a.bodies[turn], append([]string{"Authorization", "Bearer one", "X-Laconic-Tags", name, turnHeader, name}, a.headers...)...)
	if res.StatusCode != http.StatusOK {
		f.t.Errorf("%s: %d %s", name, res.StatusCode, res.body)
	}
	return name
}

// TestInterleavedAgentsDoNotTouchEachOthersPlans: agents with one credential take
// turns, or speak all at once. What the upstream sees of each is what it would see of
// that one alone, each time in a new process, under the same facts. The facts are all
// that may differ: windows and counts are learnt from the traffic of all.
func TestInterleavedAgentsDoNotTouchEachOthersPlans(t *testing.T) {
	rounds := 36
	if testing.Short() || raceDetector {
		rounds = 24
	}
	inTurns := func(f *traffic, all []*agent) {
		random, next := rand.New(rand.NewPCG(1, 2)), map[*agent]int{}
		for left := slices.Clone(all); len(left) > 0; {
			k := random.IntN(len(left))
			a := left[k]
			f.send(a, next[a])
			if next[a]++; next[a] == len(a.bodies) {
				left = slices.Delete(left, k, k+1)
			}
		}
	}
	atOnce := func(f *traffic, all []*agent) {
		var wg sync.WaitGroup
		for _, a := range all {
			wg.Go(func() {
				for turn := range a.bodies {
					f.send(a, turn)
				}
			})
		}
		wg.Wait()
	}
	f := func(name string, model *marking, among func(*traffic, []*agent)) {
		t.Run(name, func(t *testing.T) { compareAlone(t, agents(rounds), model, among) })
	}
	f("in turns", &marking{}, inTurns)
	f("at once", &marking{}, atOnce)
	f("at once, with digests", nil, atOnce)
}

func compareAlone(t *testing.T, all []*agent, model *marking, among func(*traffic, []*agent)) {
	vault := func() *store.Vault {
		if model == nil {
			return nil
		}
		return memoryStore(t)
	}
	const window = 5000
	together := inTraffic(t, window, model, vault(), nil)
	among(together, all)
	total := 0
	for _, a := range all {
		total += len(a.bodies)
	}
	summaries, untouched := 0, 0
	for _, r := range together.replies(total) {
		if s := r.Rewrite.Summary; s != nil && s.Outcome != summarize.Digest {
			summaries++
		}
		if r.Outcome == Untouched {
			untouched++
		}
	}
	together.quietly()
	together.stop()
	var asked int64
	if model != nil {
		asked = model.asked.Swap(0)
	}
	known, retried := map[string]int{}, 0
	for _, a := range all {
		vault := vault()
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
				refusing := 0
				if a.bound {
					refusing = window
				} else {
					compared = bodies[i : i+1]
				}
				alone := inTraffic(t, refusing, model, vault, pin(f))
				alone.send(a, turn)
				alone.quietly()
				alone.stop()
				if want := alone.upstream.seen[name]; !slices.Equal(compared, want) {
					t.Fatalf("%s, body %d, under %+v: among others\n%s\nalone\n%s", name, i, f, compared, want)
				}
			}
		}
	}
	if untouched == 0 || retried == 0 || len(known) < 3 || model != nil && (summaries < total/4 || asked >= model.asked.Load()) {
		t.Errorf("%d requests, of which %d untouched and %d retried, under %d facts, with %d summaries for which %d were asked for: this compares too little",
			total, untouched, retried, len(known), summaries, asked)
	}
}
