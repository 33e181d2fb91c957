package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"laconic/compact/compacttest"
	"laconic/demo/strict"
	"laconic/proxy/wire"
)

// How much of the sweep runs, as bytes of bodies that are sent. LACONIC_SWEEP
// chooses: by default a sample that a short run can bear, half a larger one of
// two minutes, both drawn from all requests with all damages at all budgets;
// full sends every request at every budget, and every request with every damage
// at one of the budgets, in turn: some 28 GB, half an hour.
var sweepSizes = map[string]int64{"": 60 << 20, "half": 1500 << 20, "full": everything}

const everything = -1

// shares are the budgets of the sweep, in percent of a conversation's peak.
var shares = []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}

// chat is one recorded conversation.
type chat struct {
	id, model string
	seed      uint64 // made of the id
	tools     []byte
	lines     []line
	points    []int // lengths of the prefixes that a client sent
	sizes     []int // bytes of the first n messages
	gap       string
	peak      int // tokens of the whole, in the proxy's count
}

// body is a request with these messages.
func (c *chat) body(ls []line) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%s,"messages":[`, strconv.Quote(c.model))
	for i, l := range ls {
		if i > 0 {
			b.WriteString(c.gap)
		}
		b.Write(l.raw)
	}
	b.WriteByte(']')
	if len(c.tools) > 0 {
		b.WriteString(`,"tools":`)
		b.Write(c.tools)
	}
	b.WriteString(`,"temperature": 0.10}`)
	return b.Bytes()
}

// recordedChats reads the real conversations. Every other one is written with
// wide gaps.
func recordedChats(t *testing.T) []*chat {
	files, _ := filepath.Glob(filepath.Join(compacttest.SharedDir(t), "*.jsonl"))
	var all []*chat
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 64<<20)
		for in.Scan() {
			var r struct {
				ID, Model string
				Messages  []json.RawMessage
				Tools     json.RawMessage
			}
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			h := fnv.New64a()
			_, _ = io.WriteString(h, r.ID)
			c := &chat{id: r.ID, seed: h.Sum64(), model: r.Model, tools: r.Tools, gap: []string{",", " ,\n  "}[len(all)%2], sizes: []int{0}}
			if string(c.tools) == "null" {
				c.tools = nil
			}
			for i, m := range r.Messages {
				l := lineOf(m)
				if l.role == "assistant" && i > 0 {
					c.points = append(c.points, i)
				}
				c.lines = append(c.lines, l)
				c.sizes = append(c.sizes, c.sizes[i]+len(m))
			}
			c.points = append(c.points, len(c.lines))
			req, err := wire.Decode(c.body(c.lines))
			if err != nil {
				t.Fatalf("%s: %v", c.id, err)
			}
			count, err := counterFor(c.model, "")
			if err != nil {
				t.Fatal(err)
			}
			c.peak = countRequest(req, count).Total
			all = append(all, c)
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// chance is what decides for a case: the same at every run.
func (c *chat) chance(k, d, share int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, uint64(k)<<32|uint64(d)<<16|uint64(share)))
}

// sample says which of many cases are sent, so that about so many bytes are:
// small cases nearly all, of the large ones a few, spread over everything.
type sample struct{ allowance float64 }

// sampleOf shares size bytes among cases of which each costs as told.
func sampleOf(size int64, cases func(yield func(cost int))) sample {
	if size == everything {
		return sample{everything}
	}
	// The allowance a of a case is spent on it with chance a/cost, so the total
	// grows with a, which is found by halving.
	low, high := 0.0, float64(size)
	for range 40 {
		a := (low + high) / 2
		total := 0.0
		cases(func(cost int) { total += min(float64(cost), a) })
		if total > float64(size) {
			high = a
		} else {
			low = a
		}
	}
	return sample{low}
}

func (s sample) takes(r *rand.Rand, cost int) bool {
	return s.allowance == everything || r.Float64()*float64(cost) < s.allowance
}

// sweepLevel is the part of the sweep that was asked for.
func sweepLevel(t *testing.T) (string, int64) {
	level := os.Getenv("LACONIC_SWEEP")
	size, ok := sweepSizes[level]
	if !ok {
		t.Fatalf("LACONIC_SWEEP=%q: it is half, full, or not set", level)
	}
	switch {
	case level != "":
	case raced:
		level, size = "a small sample", size/4
	default:
		level = "a sample"
	}
	return level, size
}

// sweepUpstream is a strict upstream that keeps what came until the case that
// sent it asks for it.
type sweepUpstream struct {
	strict *strict.Upstream
	mu     sync.Mutex
	came   map[string][]byte
}

func (u *sweepUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return
	}
	u.mu.Lock()
	u.came[r.Header.Get("Case")] = body
	u.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.strict.ServeHTTP(w, r)
}

func (u *sweepUpstream) take(name string) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer delete(u.came, name)
	return u.came[name]
}

// TestEveryRealRequestIsTakenByAStrictUpstream sends the requests of the real
// conversations, whole and damaged in every way that histories come damaged,
// at budgets from a tenth of a conversation's peak to all of it, through the
// running binary. None may be refused for its shape, and what is legal and
// within its budget must arrive byte for byte.
func TestEveryRealRequestIsTakenByAStrictUpstream(t *testing.T) {
	level, size := sweepLevel(t)
	chats := recordedChats(t)
	t.Parallel()
	s := newSweep(t)
	part := sampleOf(size, func(yield func(int)) {
		for _, c := range chats {
			for _, k := range c.points {
				for range len(damages) * len(shares) {
					yield(c.sizes[k] + 500)
				}
			}
		}
	})
	work := make(chan func())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	for _, c := range chats {
		for _, k := range c.points {
			work <- func() {
				for d := range damages {
					for n, share := range shares {
						r, turn := c.chance(k, d, share), n == (k+d)%len(shares)
						switch {
						case part.allowance == everything && d > 0 && !turn:
						case part.takes(r, c.sizes[k]+500), d == 0 && turn && k == len(c.lines):
							s.send(c, k, &damages[d], share, r)
						}
					}
				}
			}
		}
	}
	close(work)
	workers.Wait()
	s.report(level, len(chats))
}

// sweep is the run of all cases.
type sweep struct {
	t *testing.T
	u *sweepUpstream
	p *running

	mu       sync.Mutex // guards what follows
	figures  figures
	damaged  map[string]int // cases by damage
	byShare  map[int]int
	chats    map[string]bool
	failures int
}

type figures struct {
	sent, identical   int
	within, untouched int // legal and within the budget; of these, byte for byte
	refused           int // by the upstream, for what the proxy sent
	inherited         int // by the upstream, for what was recorded so
	outcomes          map[string]int
	bytes             int64
}

func newSweep(t *testing.T) *sweep {
	s := &sweep{
		t: t, u: &sweepUpstream{strict: strict.New(strict.Options{Limit: -1, Keep: 1}), came: map[string][]byte{}},
		figures: figures{outcomes: map[string]int{}}, damaged: map[string]int{}, byShare: map[int]int{}, chats: map[string]bool{},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s.u, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(l) }()
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	s.p, err = start(path, t.TempDir(), os.Environ(), "--upstream", "http://"+l.Addr().String()+"/v1", "--admin", "off", "--log-level", "warn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.p.stop(); err != nil {
			t.Errorf("the proxy did not end as it should: %v\n%s", err, s.p.output())
		}
		_ = server.Close()
	})
	return s
}

// fail tells of a case that went wrong, the first ones in full.
func (s *sweep) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	if s.failures <= 10 {
		s.t.Errorf(format, args...)
	}
}

// send sends one case and judges what became of it.
func (s *sweep) send(c *chat, k int, d *damage, share int, r *rand.Rand) {
	ls := d.do(c.lines[:k], r)
	if len(ls) == 0 || hopeless(ls) {
		return
	}
	name := fmt.Sprintf("%s, request of %d messages, damage: %s, budget %d %%", c.id, k, d.name, share)
	body, budget := c.body(ls), max(1, c.peak*share/100)
	status, header, answer, came, err := s.exchange(name, body, budget)
	if err != nil {
		s.fail("%s: %v", name, err)
		return
	}
	outcome := header.Get("x-laconic-outcome")
	before, _ := strconv.Atoi(header.Get("x-laconic-tokens-before"))
	after, _ := strconv.Atoi(header.Get("x-laconic-tokens-after"))
	same := bytes.Equal(body, came)

	inherited := false
	if status != "200 OK" {
		// Some recorded conversations have what the strict upstream does not
		// take, such as ids of 47 characters. That is not for the proxy to heal.
		said := s.u.strict.Check(came)
		was := s.u.strict.Check(c.body(c.lines[:k]))
		inherited = said != nil && was != nil && said.Kind == strict.KindShape && was.Kind == said.Kind && was.Code == said.Code
		if !inherited {
			s.fail("%s: refused: %s: %s", name, status, strings.TrimSpace(string(answer)))
		}
	}
	switch outcome {
	case "untouched", "repaired", "compacted", "over":
	default:
		s.fail("%s: outcome %q", name, outcome)
	}
	if outcome == "untouched" && !same {
		s.fail("%s: called untouched, but its bytes were changed", name)
	}
	if outcome != "over" && after > budget {
		s.fail("%s: %d tokens were sent, with a budget of %d, as %q", name, after, budget, outcome)
	}
	// A fixed cost is rounded up to a sixteenth of the budget.
	within := before+budget/16+1 <= budget*85/100
	legal := same || within && s.u.strict.Check(body) == nil
	if within && legal && !same {
		s.fail("%s: legal and within its budget (%d tokens of %d), but it did not arrive byte for byte (%s, %s)",
			name, before, budget, outcome, header.Get("x-laconic-stages"))
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.figures
	f.sent++
	f.bytes += int64(len(body))
	f.outcomes[outcome]++
	if same {
		f.identical++
	}
	if within && legal {
		f.within++
		if same {
			f.untouched++
		}
	}
	switch {
	case inherited:
		f.inherited++
	case status != "200 OK":
		f.refused++
	}
	s.damaged[d.name]++
	s.byShare[share]++
	s.chats[c.id] = true
}

func (s *sweep) exchange(name string, body []byte, budget int) (status string, h http.Header, answer, came []byte, err error) {
	r, err := http.NewRequest(http.MethodPost, s.p.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", nil, nil, nil, err
	}
	r.Header.Set("Case", name)
	r.Header.Set("X-Laconic-Budget", strconv.Itoa(budget))
	status, h, answer, err = exchange(s.p.client, r)
	came = s.u.take(name)
	if err == nil && came == nil {
		err = fmt.Errorf("it did not reach the upstream: %s: %s", status, answer)
	}
	return status, h, answer, came, err
}

// report tells the figures, and fails where the sweep did not cover what it is
// for.
func (s *sweep) report(level string, chats int) {
	f := s.figures
	s.t.Logf("%s: %d requests of %d conversations, %d MB, with %d kinds of damage; %d failures", level, f.sent, len(s.chats), f.bytes>>20, len(s.damaged)-1, s.failures)
	s.t.Logf("refused: %d, and %d for what was recorded so; byte for byte: %d of %d that were legal and within their budget, %d in all",
		f.refused, f.inherited, f.untouched, f.within, f.identical)
	s.t.Logf("outcomes: %v", f.outcomes)
	for _, d := range damages {
		if s.damaged[d.name] == 0 {
			s.t.Errorf("damage %q was not tried", d.name)
		}
	}
	for _, share := range shares {
		if s.byShare[share] < 30 {
			s.t.Errorf("a budget of %d %% was tried %d times only", share, s.byShare[share])
		}
	}
	if len(s.chats) != chats {
		s.t.Errorf("%d of %d conversations were tried", len(s.chats), chats)
	}
	for _, outcome := range []string{"untouched", "repaired", "compacted", "over"} {
		if f.outcomes[outcome] == 0 {
			s.t.Errorf("no request was %s", outcome)
		}
	}
}

// TestRealConversationsStayPrefixes sends real conversations turn by turn, the
// whole history each time. What the upstream got must be the beginning of what
// it gets next, to the byte, except where an epoch began.
func TestRealConversationsStayPrefixes(t *testing.T) {
	level, size := sweepLevel(t)
	chats := recordedChats(t)
	t.Parallel()
	u, err := launch(strict.Options{Limit: -1, MaxID: -1}) // some recorded ids are longer than OpenAI takes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.close)
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(path, t.TempDir(), os.Environ(), "--upstream", u.url, "--admin", "off", "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("the proxy did not end as it should: %v\n%s", err, p.output())
		}
	})
	fewest := 0
	if size != everything {
		size /= 2
		fewest = 12 // a short conversation is all epochs when its budget is small
	}
	chats = slices.DeleteFunc(chats, func(c *chat) bool { return len(c.points) < fewest })
	part := sampleOf(size, func(yield func(int)) {
		for _, c := range chats {
			for range shares {
				yield(c.whole())
			}
		}
	})
	walks, requests, continued, epochs := 0, 0, 0, 0
	kept := map[int][2]int{} // by budget: requests that continued, of how many
	for _, c := range chats {
		for _, share := range shares {
			if !part.takes(c.chance(0, 0, share), c.whole()) {
				continue
			}
			w := walk{p: p, u: u, outcomes: map[string]int{}}
			headers := []string{"X-Laconic-Budget: " + strconv.Itoa(max(1, c.peak*share/100))}
			for _, k := range c.points {
				if !betweenRounds(c.lines[:k]) {
					continue
				}
				if err := w.send(c.body(c.lines[:k]), headers); err != nil {
					t.Errorf("%s, request of %d messages, budget %d %%: %v", c.id, k, share, err)
					break
				}
			}
			u.forget()
			walks++
			requests += w.requests
			continued += w.continued
			epochs += w.last.Epochs
			n := kept[share]
			kept[share] = [2]int{n[0] + w.continued, n[1] + max(0, w.requests-1)}
		}
	}
	t.Logf("%s: %d requests of %d conversations with a budget, %d epochs; %d requests began with the bytes of the one before", level, requests, walks, epochs, continued)
	for _, share := range shares {
		t.Logf("budget %3d %%: %d of %d requests continued the one before", share, kept[share][0], kept[share][1])
	}
	if epochs < 20 || continued < 50 {
		t.Errorf("that is too little to show anything")
	}
}

// whole is what all requests of a conversation are together, in bytes.
func (c *chat) whole() int {
	n := 0
	for _, k := range c.points {
		n += c.sizes[k] + 500
	}
	return n
}

// betweenRounds tells whether a client could have sent a prefix: no result of
// its last calls is still to come.
func betweenRounds(ls []line) bool {
	open := map[string]int{}
	i := len(ls)
	for i > 0 && ls[i-1].role == "tool" {
		i--
		open[ls[i].answers]--
	}
	for i > 0 && len(ls[i-1].calls) > 0 {
		i--
		for _, id := range ls[i].calls {
			open[id]++
		}
	}
	for _, n := range open {
		if n > 0 {
			return false
		}
	}
	return true
}
