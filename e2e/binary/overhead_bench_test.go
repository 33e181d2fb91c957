package binary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"laconic/e2e/rig"
	"laconic/proxy/wire/wiretest"

	"laconic/compact"
	"laconic/counting"
	"laconic/proxy/wire"
)

// overheadSizes are the bodies of BenchmarkOverhead, and how many requests are
// one round of each.
var overheadSizes = []struct {
	name, endpoint        string
	calls, size, requests int
}{
	{"2 KB", "/chat/completions", 5, 2 << 10, 600},
	{"40 KB", "/chat/completions", 18, 40 << 10, 320},
	{"400 KB", "/chat/completions", 186, 400 << 10, 80},
	{"4 MB", "/chat/completions", 950, 4 << 20, 10},
	{"blocks", "/messages", 186, 400 << 10, 80},
	{"items", "/responses", 186, 400 << 10, 80},
}

// answersOverhead is an upstream that says how many tokens it was sent, as a real one
// does: else nothing is counted exactly. The first request of a kind, which does
// not know it, is counted.
func answersOverhead(b *testing.B) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tokens := r.Header.Get("X-Prompt-Cost")
		if tokens == "0" {
			body, _ := io.ReadAll(r.Body)
			api, _ := wire.For(strings.TrimPrefix(r.URL.Path, "/v1"))
			req, err := api.Decode(body)
			if err != nil {
				b.Error(err)
				return
			}
			tokens = strconv.Itoa(costOf(b, req, "gpt-4o"))
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, overheadAnswer, tokens)
	}
}

// overheadAnswer is the answer to a prompt of so many tokens, as each API reads it.
const overheadAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant",` +
	`"content":"The parser accepts quoted names now."},"finish_reason":"stop"}],"stop_reason":"end_turn","usage":{"prompt_tokens":%[1]s,"completion_tokens":8,"total_tokens":%[1]s,` +
	`"input_tokens":%[1]s,"output_tokens":8}}`

// overheadRounds is odd, so that the median is one of the rounds.
const overheadRounds = 5

// BenchmarkOverhead prints what a request costs, in time that the processors
// worked for the process of the proxy:
//
//   - streaming: an httputil.ReverseProxy that sends the body on as it comes
//   - reading: the same, but it reads the body whole first
//   - untouched: laconic serve with its defaults, exact counts, a history that was
//     seen before, and nothing to do
//   - folded: the same with a budget of a third of the history
//
// Each size is measured in rounds in which all four have their turn. A ratio is
// the median of the ratios of the rounds, so a machine that others use as well
// changes it little.
func BenchmarkOverhead(b *testing.B) {
	upstream := httptest.NewServer(answersOverhead(b))
	defer upstream.Close()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	streaming := measuredProxy(b, nil, self, "LACONIC_TEST_BARE=streaming "+upstream.URL)
	reading := measuredProxy(b, nil, self, "LACONIC_TEST_BARE=reading "+upstream.URL)
	laconic := measuredProxy(b, []string{"serve", "--upstream", upstream.URL + "/v1", "--listen", "127.0.0.1:0", "--admin", "off"}, rig.Command(b), "")
	var table strings.Builder
	fmt.Fprintf(&table, "CPU per request, medians of %d rounds\n", overheadRounds*b.N)
	fmt.Fprintf(&table, "%-8s %12s %12s %12s %12s   %s\n", "body", "streaming", "reading", "untouched", "folded", "untouched ÷ streaming, ÷ reading; folded ÷ untouched")
	for _, size := range overheadSizes {
		api, _ := wire.For(size.endpoint)
		body := sentAs(b, api, agentBody(size.calls, size.size))
		r, err := api.Decode(body)
		if err != nil {
			b.Fatal(err)
		}
		cost := costOf(b, r, "gpt-4o")
		kinds := []*measuredKind{
			{to: streaming, endpoint: size.endpoint},
			{to: reading, endpoint: size.endpoint},
			{to: laconic, endpoint: size.endpoint, budget: 100_000_000, outcome: "untouched"},
			{to: laconic, endpoint: size.endpoint, budget: cost / 3, outcome: "compacted"},
		}
		for _, k := range kinds {
			for range 20 {
				k.send(b, body)
			}
		}
		laconic.settle() // it reads the tables of models that nobody asks for here
		measureInTurn(b, kinds, overheadRounds*b.N, size.requests, body)
		ratio := func(a, b *measuredKind) float64 { return middle(ratios(a, b)) }
		bare, whole, untouched, folded := kinds[0], kinds[1], kinds[2], kinds[3]
		fmt.Fprintf(&table, "%-8s", size.name)
		for _, k := range kinds {
			fmt.Fprintf(&table, " %9.0f µs", middle(k.took))
		}
		fmt.Fprintf(&table, "   %.2f ×, %.2f ×; %.2f ×\n", ratio(untouched, bare), ratio(untouched, whole), ratio(folded, untouched))
	}
	b.ReportMetric(0, "ns/op")
	fmt.Print("\n" + table.String()) // a log of a benchmark is cut after ten lines
}

// measureInTurn measures so many rounds, in each of which every kind sends so
// many requests.
func measureInTurn(b *testing.B, kinds []*measuredKind, rounds, requests int, body []byte) {
	for range rounds {
		for _, k := range kinds {
			before := k.to.cpu(b)
			for range requests {
				k.send(b, body)
			}
			k.took = append(k.took, float64((k.to.cpu(b)-before).Nanoseconds())/1000/float64(requests))
		}
	}
}

// ratios returns what a took beside b, round by round.
func ratios(a, b *measuredKind) []float64 {
	each := make([]float64, len(a.took))
	for i := range each {
		each[i] = a.took[i] / b.took[i]
	}
	return each
}

// middle returns the median of a list.
func middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// measuredKind is one way in which requests are sent, and what they took in each
// round, in microseconds per request.
type measuredKind struct {
	to       *processAt
	endpoint string
	tokens   int // of the prompt that reaches the upstream; 0: not known yet
	budget   int
	outcome  string
	took     []float64
}

func (k *measuredKind) send(b *testing.B, body []byte) {
	r, _ := http.NewRequest("POST", "http://"+k.to.addr+"/v1"+k.endpoint, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Prompt-Cost", strconv.Itoa(k.tokens))
	if k.budget > 0 {
		r.Header.Set("X-Laconic-Budget", strconv.Itoa(k.budget))
	}
	res, err := rig.Client.Transport.RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	answer, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if got := res.Header.Get("X-Laconic-Outcome"); got != k.outcome || res.StatusCode != http.StatusOK {
		b.Fatalf("status %d, outcome %q, want %q", res.StatusCode, got, k.outcome)
	}
	api, _ := wire.For(k.endpoint)
	if end := api.End(wire.Answer{Tail: answer, Whole: true}); k.tokens == 0 && end.Usage != nil {
		k.tokens = end.Usage.Prompt
	}
}

// processAt is a process that listens.
type processAt struct {
	addr string
	pid  int
}

// measuredProxy starts a process that says where it listens, and ends it with
// the benchmark. env is NAME=VALUE, or empty.
func measuredProxy(b *testing.B, args []string, path, env string) *processAt {
	b.Helper()
	cmd := exec.Command(path, args...)
	if cmd.Env = os.Environ(); env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	says, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var reading sync.WaitGroup
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(says)
	p := &processAt{pid: cmd.Process.Pid}
	for p.addr == "" && lines.Scan() {
		if m := rig.Listening.FindStringSubmatch(lines.Text()); m != nil {
			p.addr = strings.TrimPrefix(m[1], "http://")
		}
	}
	if p.addr == "" {
		b.Fatal("it does not listen")
	}
	reading.Go(func() { _, _ = io.Copy(io.Discard, says) })
	return p
}

// cpu returns how long processors have worked for the process so far.
func (p *processAt) cpu(b *testing.B) time.Duration {
	d, err := processTime(p.pid)
	if err != nil {
		b.Skip("what a process computes cannot be read here: ", err)
	}
	return d
}

// settle waits until the process computes nothing on its own.
func (p *processAt) settle() {
	for busy := time.Duration(-1); ; {
		now, err := processTime(p.pid)
		if err != nil || now-busy < time.Millisecond && busy >= 0 {
			return
		}
		busy = now
		time.Sleep(100 * time.Millisecond)
	}
}

// serveBare is what this test binary does when it is started as a proxy to be
// compared with: how is "streaming" or "reading", and an upstream. It reports
// false if it was not.
func serveBare() bool {
	how, base, ok := strings.Cut(os.Getenv("LACONIC_TEST_BARE"), " ")
	if !ok {
		return false
	}
	upstream, err := url.Parse(base)
	if err != nil {
		panic(err)
	}
	var buffers pooledBuffers
	forward := &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:  &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
		BufferPool: &buffers,
	}
	var handler http.Handler = forward
	if how == "reading" {
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			whole := make([]byte, r.ContentLength)
			if _, err := io.ReadFull(r.Body, whole); err != nil {
				panic(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(whole))
			forward.ServeHTTP(w, r)
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "{\"listening\":\"http://%s\"}\n", l.Addr())
	panic(http.Serve(l, handler))
}

// pooledBuffers are the buffers in which a proxy copies answers.
type pooledBuffers struct{ pool sync.Pool }

func (p *pooledBuffers) Get() []byte {
	if buf, ok := p.pool.Get().(*[32 << 10]byte); ok {
		return buf[:]
	}
	return make([]byte, 32<<10)
}

func (p *pooledBuffers) Put(buf []byte) { p.pool.Put((*[32 << 10]byte)(buf)) }

// agentBody is the body of a coding agent's request with so many calls, about
// size bytes in all: source text, so every thirty bytes something is escaped.
func agentBody(calls, size int) []byte {
	messages := []any{
		map[string]any{"role": "system", "content": strings.Repeat("You are a careful engineer.\n", min(60, size/200))},
		map[string]any{"role": "user", "content": "Make the parser accept \"quoted\" names, please."},
	}
	each := max(1, size/calls-300)
	for i := range calls {
		id := fmt.Sprintf("call_%08d", i)
		var text strings.Builder
		for line := 0; text.Len() < each; line++ {
			fmt.Fprintf(&text, "\tif name := p.names[%d]; name != \"\" && !p.quoted(name, %d) {\n", line, i)
		}
		messages = append(messages,
			map[string]any{"role": "assistant", "content": "Let me look at the next file.", "tool_calls": []any{
				map[string]any{"id": id, "type": "function", "function": map[string]any{
					"name": "tool_1", "arguments": fmt.Sprintf(`{"path":"internal/parser/file_%d.go"}`, i),
				}},
			}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": text.String()[:each]})
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": messages})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return body
}

// sentAs returns a chat as clients of an API send it, to the same model.
func sentAs(b *testing.B, w wire.Wire, chat []byte) []byte {
	b.Helper()
	return []byte(strings.NewReplacer(`"claude-sonnet-5"`, `"gpt-4o"`, `"gpt-5"`, `"gpt-4o"`).Replace(string(wiretest.As(b, w, chat))))
}

// costOf is what a request costs, as laconic counts it for a model.
func costOf(t testing.TB, r *wire.Request, model string) int {
	t.Helper()
	k, err := counting.For(model, "")
	if err != nil {
		t.Fatal(err)
	}
	return k.Fixed(r.Beside) + compact.CostAll(k, r.Conversation.Messages)
}
