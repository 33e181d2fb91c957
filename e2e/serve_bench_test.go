package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"laconic/cli/counting"
	"laconic/compact"
	"laconic/proxy/wire"
)

// BenchmarkServe is a whole request over loopback, through the real command in
// a process of its own, counted exactly; the history was seen before.
// cpu-µs/op is what that process computes for it. With nothing to do, and with
// a budget that makes it fold. ./proxy has the same beside a proxy that does
// nothing.
func BenchmarkServe(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":1}}`)
	}))
	defer upstream.Close()
	for _, size := range []struct {
		name  string
		bytes int
	}{{"40KB", 40 << 10}, {"400KB", 400 << 10}, {"4MB", 4 << 20}} {
		body := agentBody(min(size.bytes/2_200, 950), size.bytes)
		r, err := wire.Chat.Decode(body)
		if err != nil {
			b.Fatal(err)
		}
		tokens := costOf(b, r, "gpt-4o")
		for _, kind := range []struct {
			name, outcome string
			budget        int
		}{{"noop", "untouched", 100_000_000}, {"fold", "compacted", tokens / 3}} {
			b.Run(size.name+"/"+kind.name, func(b *testing.B) {
				addr, cpu := servedProcess(b, upstream.URL+"/v1")
				transport := &http.Transport{MaxIdleConnsPerHost: 4}
				defer transport.CloseIdleConnections()
				send := func() {
					r, _ := http.NewRequest("POST", "http://"+addr+"/v1/chat/completions", strings.NewReader(string(body)))
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("X-Laconic-Budget", strconv.Itoa(kind.budget))
					res, err := transport.RoundTrip(r)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
					if got := res.Header.Get("X-Laconic-Outcome"); got != kind.outcome {
						b.Fatalf("outcome %q, want %q", got, kind.outcome)
					}
				}
				for range 20 {
					send()
				}
				for busy := time.Duration(-1); busy != cpu(); time.Sleep(300 * time.Millisecond) {
					busy = cpu() // with tables of models that nobody asks for here
				}
				b.SetBytes(int64(len(body)))
				before := cpu()
				b.ResetTimer()
				for range b.N {
					send()
				}
				b.StopTimer()
				b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}

// servedProcess starts laconic serve and gives its address, and what tells the
// time that it has computed so far.
func servedProcess(b *testing.B, upstream string) (addr string, cpu func() time.Duration) {
	b.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		b.Skip("what a process computes is read from /proc, which this system does not have")
	}
	path, err := laconicPath()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(path, "serve", "--upstream", upstream, "--listen", "127.0.0.1:0", "--admin", "off", "--log-level", "error")
	says, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(says)
	for addr == "" && lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			addr = strings.TrimPrefix(m[1], "http://")
		}
	}
	if addr == "" {
		b.Fatal("it does not listen")
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	return addr, func() time.Duration {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil {
			b.Fatal(err)
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(after)
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
	}
}

// agentBody is the body of a coding agent's request with so many calls, about
// size bytes in all: source text, so every thirty bytes something is escaped.
func agentBody(calls, size int) []byte {
	messages := []any{
		map[string]any{"role": "system", "content": strings.Repeat("You are a careful engineer.\n", 60)},
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
	return marshal(map[string]any{"model": "gpt-4o", "messages": messages})
}

// costOf is what a request costs, as laconic counts it for a model.
func costOf(t testing.TB, r *wire.Request, model string) int {
	t.Helper()
	k, err := counting.For(model, "")
	if err != nil {
		t.Fatal(err)
	}
	return k.Fixed(r.Tools, r.Functions, r.ResponseFormat) + compact.CostAll(k, r.Conversation.Messages)
}
