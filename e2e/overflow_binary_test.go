package e2e

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/proxy/overflow"
)

// refusing is an upstream that refuses the first request of each model, with
// what stands for it in a file, and answers all others.
type refusing struct {
	mu      sync.Mutex
	samples map[string]refusal
	hits    map[string]int
}

type refusal struct {
	status int
	body   string
}

func (u *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	_, model, _ := bytes.Cut(body, []byte(`"model":"`))
	model, _, _ = bytes.Cut(model, []byte(`"`))
	u.mu.Lock()
	u.hits[string(model)]++
	hit, s := u.hits[string(model)], u.samples[string(model)]
	u.mu.Unlock()
	switch {
	case hit > 1:
		_, _ = io.WriteString(w, `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	case s.status == http.StatusOK:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\n", s.body)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
	}
}

// TestEveryRefusalThroughTheBinary: how often the upstream was asked, what the
// client saw, and what was remembered, for every refusal that is known, with
// the configuration of a first start but for a window that all of them fit.
func TestEveryRefusalThroughTheBinary(t *testing.T) {
	u := &refusing{samples: map[string]refusal{}, hits: map[string]int{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: u, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "wide.yaml")
	if err := os.WriteFile(config, []byte("models: [{match: \"*\", window: 9000000, max_messages: 20000, tokenizer: bytes/3}]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := start(path, dir, os.Environ(), "--upstream", "http://"+l.Addr().String()+"/v1", "--admin", "127.0.0.1:0", "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.stop(); err != nil {
			t.Errorf("the proxy did not end as it should: %v\n%s", err, p.output())
		}
	}()

	files, _ := filepath.Glob("../proxy/overflow/testdata/*.txtar")
	cured, passed := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range txtar.Parse(text).Files {
			verdict, rest, _ := strings.Cut(string(f.Data), "\n")
			head, body, _ := strings.Cut(rest, "\n")
			s := refusal{body: strings.TrimSuffix(body, "\n")}
			s.status, _ = strconv.Atoi(head)
			model := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(file), ".txtar"), i)
			u.mu.Lock()
			u.samples[model] = s
			u.mu.Unlock()

			r := overflow.Read(s.status, []byte(s.body)).Size()
			request := refusedRequest(model, r)
			send := func() (status int, outcome string, answer []byte) {
				req, _ := http.NewRequest(http.MethodPost, p.URL+"/v1/chat/completions", strings.NewReader(request))
				res, err := p.client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				answer, _ = io.ReadAll(res.Body)
				return res.StatusCode, res.Header.Get("x-laconic-outcome"), answer
			}
			status, outcome, answer := send()
			u.mu.Lock()
			hits := u.hits[model]
			u.mu.Unlock()
			switch kind, _, _ := strings.Cut(verdict, " "); {
			case kind == "none", s.status == http.StatusTooManyRequests, r.Output >= r.Limit*15/16 && r.Output > 0:
				passed++
				if hits != 1 || status != s.status || !bytes.Contains(answer, []byte(s.body)) || outcome == "retried" {
					t.Errorf("%s, %s: %d %q after %d hits: %.200s", file, f.Name, status, outcome, hits, answer)
				}
			default:
				cured++
				if hits != 2 || status != http.StatusOK || outcome != "retried" || bytes.Contains(answer, []byte("error")) {
					t.Errorf("%s, %s: %d %q after %d hits: %.200s", file, f.Name, status, outcome, hits, answer)
				}
				next := "compacted"
				if r.Shared {
					next = "untouched" // within the window that is configured, so nothing is learnt
				}
				status, outcome, _ = send()
				u.mu.Lock()
				hits = u.hits[model]
				u.mu.Unlock()
				if hits != 3 || status != http.StatusOK || outcome != next {
					t.Errorf("%s, %s: the next turn: %d %q after %d hits more", file, f.Name, status, outcome, hits-2)
				}
				if bytes.Contains(admin(t, p, "/readyz?verbose"), []byte(strconv.Quote(model))) == r.Shared {
					t.Errorf("%s, %s: the admin page does not know what was learnt", file, f.Name)
				}
			}
		}
	}
	t.Logf("%d refusals cured after two hits, %d passed after one", cured, passed)
	if cured < 50 || passed < 20 {
		t.Errorf("%d cured, %d passed: too few were tried", cured, passed)
	}
}

// refusedRequest is a history that is a little larger than the upstream said
// it was, by the estimate of three bytes a token.
func refusedRequest(model string, r overflow.Refusal) string {
	tokens, rounds := 20_000, 40
	switch {
	case r.Kind == overflow.Count:
		rounds, tokens = 3000, 100_000
	case r.Kind != overflow.Bytes && r.Limit > 0:
		tokens = max(r.Prompt, r.Limit*11/10)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"%s","messages":[{"role":"user","content":"read the files"}`, model)
	for i := range rounds {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, strings.Repeat("line of a file ", 3*tokens/rounds/15))
	}
	b.WriteString(`,{"role":"assistant","content":"read"},{"role":"user","content":"and now?"}]}`)
	return b.String()
}

// admin reads a page of the admin listener.
func admin(t *testing.T, p *running, path string) []byte {
	t.Helper()
	res, err := p.client.Get(p.Admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return b
}
