package survival

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"laconic/demo/strict"
)

// thinker is an upstream that binds its thinking to all that stood before it. It
// calls in every round; where asked, it answers each fifth without a call.
type thinker struct {
	*strict.Upstream // the one that answers now

	mu      sync.Mutex
	turns   bool // it answers each fifth round without a call
	round   int
	kinds   map[strict.Kind]int // refusals
	sent    int                 // pieces of thinking that came with requests
	newest  string              // mark of the newest result
	missing int                 // requests without that
}

const thinkingRounds = 40

func newThinker(limit int, turns bool) *thinker {
	m := &thinker{turns: turns, kinds: map[strict.Kind]int{}}
	m.limit(limit)
	return m
}

// limit puts another in its place, which reads what the one before it signed.
func (m *thinker) limit(tokens int) {
	u := strict.New(strict.Options{Limit: tokens, Reply: m.reply, Thinks: m.think, Rule: misbound})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Upstream = u
}

func (m *thinker) think(r *strict.Request) *strict.Thought {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.round%7 == 3 {
		return nil // it does not always think
	}
	b, _ := bind(r.Body, strings.Repeat("I must not forget what the user asked for. ", 2+m.round*5%30))
	return &b
}

func (m *thinker) reply(r *strict.Request) strict.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := r.Messages[len(r.Messages)-1]
	if m.newest != "" && last.Role == "tool" && !strings.Contains(last.Text, m.newest) {
		m.missing++
	}
	for _, message := range r.Messages {
		if message.Thinking != "" {
			m.sent++
		}
	}
	m.round++
	switch {
	case m.round > thinkingRounds:
		return strict.Reply{Text: sessionIsOver}
	case m.turns && m.round%5 == 0:
		return strict.Reply{Text: fmt.Sprintf("Step %d is done.", m.round)}
	}
	return strict.Reply{Text: "I look at it.", Calls: []strict.Call{{
		Name: "read_file", Arguments: fmt.Sprintf(`{"path":"src/part_%02d.go"}`, m.round),
	}}}
}

func (m *thinker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	u := m.Upstream
	m.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.Method == http.MethodPost {
		if _, refusal := u.Read("/chat/completions", body); refusal != nil {
			m.mu.Lock()
			m.kinds[refusal.Kind]++
			m.mu.Unlock()
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.ServeHTTP(w, r)
}

// TestBoundThinkingSurvives: an agent of forty rounds whose upstream binds its
// thinking, in a window of 16,000 tokens that the proxy was told of or not. No
// refusal reaches the agent, and the newest result arrives, also where a limit
// that was learnt moves epochs, and where a replica that knows nothing goes on.
func TestBoundThinkingSurvives(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	const told, less = "models: [{match: \"*\", window: 16000, reserve: 1000}]\n", "models: [{match: \"*\", window: 12000, reserve: 1000}]\n"
	for _, c := range []struct {
		name, config string
		shrinks      bool   // the window does, half way
		replaced     bool   // the proxy is, by one that knows nothing, twice
		beside       string // the configuration of a second proxy, which takes each other five rounds
	}{
		{name: "told", config: told},
		{name: "untold"},
		{name: "told, the window shrinks", config: told, shrinks: true},
		{name: "untold, the window shrinks", shrinks: true},
		{name: "told, the window shrinks, replaced", config: told, shrinks: true, replaced: true},
		{name: "untold, replaced", replaced: true},
		{name: "told, beside one that was told less", config: told, beside: less},
		{name: "untold, beside one that was told", beside: told},
	} {
		for _, turns := range []bool{false, true} {
			name := c.name + ", one user message"
			if turns {
				name = c.name + ", a user message each fifth round"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := newThinker(16_000, turns)
				server := httptest.NewServer(m)
				t.Cleanup(server.Close)
				p := startLaconic(t, server.URL+"/v1", c.config)
				one, other := p, p
				if c.beside != "" {
					other = startLaconic(t, server.URL+"/v1", c.beside)
				}
				a := m.agent(p.URL, turns)
				epochs := 0
				for round := 1; ; round++ {
					if round == 21 && c.shrinks {
						m.limit(9_000)
					}
					if c.replaced && (round == 14 || round == 27) {
						epochs += epochsOf(p)
						p = startLaconic(t, server.URL+"/v1", c.config)
						one, other, a.url = p, p, p.URL
					}
					if a.url = one.URL; round/5%2 == 1 {
						a.url = other.URL
					}
					text, calls, status, err := a.ask()
					if err != nil || status != http.StatusOK {
						t.Fatalf("round %d: status %d, %v; refused: %v\n%s", round, status, err, m.kinds, p.Output())
					}
					if text == sessionIsOver {
						break
					}
					a.answered(text, calls)
					if len(calls) == 0 {
						a.says("user", fmt.Sprintf("Go on with step %d.", round+1))
					}
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				second := 0
				for _, n := range m.kinds {
					second += n
				}
				t.Logf("%s: %d rounds, %d epochs, %d pieces of thinking sent, second sends %d: %v", name, m.round-1, epochs+epochsOf(one), m.sent, second, m.kinds)
				if m.missing > 0 {
					t.Errorf("%d requests came without the newest result", m.missing)
				}
				if m.sent < thinkingRounds/2 {
					t.Errorf("only %d pieces of thinking were sent", m.sent)
				}
				if most := thinkingRounds / 4; second > most {
					t.Errorf("%d requests were sent twice, want at most %d", second, most)
				}
				if c.beside != "" && m.kinds[kindThinking] == 0 {
					t.Error("no epoch moved: this shows nothing")
				}
				if c.name == "told" && second > 0 {
					t.Errorf("%d requests were refused: %v", second, m.kinds)
				}
			})
		}
	}
}

// agent is the client, before its first request.
func (m *thinker) agent(url string, turns bool) *agent {
	chance := rand.New(rand.NewPCG(7, 8))
	round := 0
	a := &agent{url: url, model: "house-thinker", form: plainText, perform: func(call) string {
		round++
		m.mu.Lock()
		m.newest = fmt.Sprintf("mark_%04d", round)
		m.mu.Unlock()
		return m.newest + "\n" + strings.Repeat(fmt.Sprintf("func part%d() error { return nil } // line of a file\n", round), 20+chance.IntN(120))
	}}
	a.says("system", instructions)
	a.says("user", "Read the parts one after the other, and tell me what they do.")
	return a
}

// epochsOf returns how many epochs the last plan of the process had.
func epochsOf(p *laconic) (n int) {
	for line := range strings.Lines(p.Output()) {
		var l struct{ Epochs int }
		if json.Unmarshal([]byte(line), &l) == nil && l.Epochs > 0 {
			n = l.Epochs
		}
	}
	return n
}
