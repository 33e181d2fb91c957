package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// logged collects JSON lines.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) Sync() error { return nil }

func (l *logged) at(level zapcore.Level) *zap.Logger {
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), l, level))
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logged) lines(t testing.TB) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(l.text()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("not a line of JSON: %v: %q", err, line)
		}
		lines = append(lines, v)
	}
	return lines
}

func TestEveryChatRequestIsOneLine(t *testing.T) {
	var log logged
	_, p := plain(t, func(o *Options) {
		o.Listener = LogTo(log.at(zap.DebugLevel))
		o.Limits.Body = 1 << 20
		rejecting := *o.Default.Policy
		rejecting.Reject = true
		o.Policies = map[string]*compact.Policy{"strict": &rejecting}
	})
	n := 0
	f := func(body, level, outcome, status string, headers ...string) map[string]any {
		t.Helper()
		p.chat(body, headers...)
		n++
		p.replies(n)
		var found map[string]any
		for _, line := range log.lines(t) {
			if line["msg"] == "compaction" {
				found = line
			}
		}
		if count := strings.Count(log.text(), `"msg":"compaction"`); count != n {
			t.Fatalf("%d lines for %d requests", count, n)
		}
		if got := fmt.Sprint(found["level"], " ", found["outcome"], " ", found["status"]); got != level+" "+outcome+" "+status {
			t.Errorf("%s, want %s %s %s", got, level, outcome, status)
		}
		return found
	}
	line := f(chatBody, "debug", "untouched", "200")
	for _, field := range []string{
		"request_id", "model", "policy", "tokens_before", "tokens_after", "budget", "tools_tokens", "instructions_tokens", "task_tokens", "messages_before", "messages_after",
		"epochs", "repairs", "overhead", "prompt_tokens", "completion_tokens", "cached_tokens", "duration", "first_byte", "answer_bytes",
	} {
		if _, ok := line[field]; !ok {
			t.Errorf("no %s in %v", field, line)
		}
	}
	line = f(agentBody(20, 100), "info", "compacted", "200", "X-Laconic-Tags", "team=a")
	if line["tags"] != "team=a" || !strings.Contains(fmt.Sprint(line["stages"]), "elide_results") {
		t.Errorf("%v", line)
	}
	orphan := `{"messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c","content":"x"}]}`
	if line := f(orphan, "warn", "repaired", "200"); line["results_dropped"] != 1.0 {
		t.Errorf("%v", line)
	}
	f(orphan, "info", "shadow", "200", "X-Laconic-Mode", "shadow")
	f(`{"messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c","content":""}]}`, "info", "repaired", "200")
	if line := f(`{"messages":[{"role":"assistant","content":null,"tool_calls":[]}]}`, "info", "passed", "200"); line["reason"] != "empty" {
		t.Errorf("%v", line)
	}
	for _, line := range []map[string]any{
		f(fmt.Sprintf(manyWords, ""), "warn", "over", "200"),
		f(fmt.Sprintf(manyWords, ""), "info", "rejected", "400", "X-Laconic-Policy", "strict"),
	} {
		if text := fmt.Sprint(line["why"]); !strings.Contains(text, "instructions 1,500 tokens") || !strings.Contains(text, "budget of") {
			t.Errorf("%v", line)
		}
	}
	f(agentBody(20, 100), "info", "shadow", "200", "X-Laconic-Mode", "shadow")
	f(chatBody, "debug", "shadow", "200", "X-Laconic-Mode", "shadow")
	f(chatBody, "debug", "bypassed", "200", "X-Laconic-Mode", "off")
	if line := f("nonsense", "info", "passed", "200"); line["reason"] != "not_an_object" || !strings.Contains(fmt.Sprint(line["why"]), "not a JSON object") {
		t.Errorf("%v", line)
	}
	f(chatBody, "info", "rejected", "400", "X-Laconic-Mode", "maybe")
	f(strings.Repeat(" ", 2<<20), "info", "rejected", "413")
	p.do("GET", "/v1/models", nil)
	p.replies(n + 1)
	if !strings.Contains(log.text(), `"msg":"request"`) || !strings.Contains(log.text(), `"endpoint":"/models"`) {
		t.Error("the other request has no line")
	}
	if !strings.Contains(log.text(), `"msg":"edit"`) || !strings.Contains(log.text(), `"why":"old tool result"`) {
		t.Error("edits have no lines")
	}
}

// explosive panics on a text that says so, with the text in the panic.
type explosive struct{ compacttest.Words }

func (e explosive) Part(m *compact.Message, p *compact.Part) int {
	if text := p.Text.String(); strings.Contains(text, "explode") {
		panic(text)
	}
	return e.Words.Part(m, p)
}

func TestNoContentAndNoCredentialIsEverLogged(t *testing.T) {
	const canary = "CANARY"
	var log logged
	reply := func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-Reply") {
		case "broken":
			panic(http.ErrAbortHandler)
		case "error":
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"error":{"message":"wrong key CANARY"}}`)
		case "header":
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 CANARY\r\nCANARY\r\n\r\n")
			_ = conn.Close()
		default:
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"CANARY \"usage\":{\"prompt_tokens\":1}"}}],"CANARY":1}`)
		}
	}
	u := newUpstream(t, reply)
	o := options(parseURL(t, u.URL+"/v1?key=CANARY"))
	o.Default.Counter, o.Default.Key = explosive{}, canary
	o.ClientKeys = []ClientKey{{Key: canary}}
	o.Listener = LogTo(log.at(zap.DebugLevel))
	p := start(t, o)
	auth := []string{"Authorization", "Bearer " + canary}
	long := strings.Replace(strings.ReplaceAll(agentBody(30, 60), "word", canary), "be brief", canary, 1)
	for _, body := range []string{
		chatBody, long, strings.ReplaceAll(long, "call_3", "call_2"), strings.Replace(long, `"role":"tool"`, `"role":"user"`, 1),
		`{"CANARY":1,"messages":[{"role":"user","content":"CANARY","name":"CANARY","CANARY":"CANARY"}],"tools":[{"CANARY":1}]}`,
		`{"messages":[{"role":"user","content":"CANARY explode"}]}`,
		`{"messages":[{"role":"CANARY","content":"CANARY"}]}`, `{"CANARY":1,"CANARY":2}`, `CANARY`, `{"messages":[{"CANARY`,
		`{"messages":[{"role":"user","content":"CANARY` + "\xff" + `"}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"CANARY","arguments":"{\"CANARY\":\"CANARY\"}"}}]}]}`,
	} {
		for _, how := range []string{"", "broken", "error", "header"} {
			p.chat(body, append(auth, "X-Reply", how, "Cookie", canary, "User-Agent", canary, "X-Custom", canary)...)
			p.chat(body, append(auth, "X-Reply", how, "X-Laconic-Mode", "shadow")...)
		}
	}
	for _, headers := range []string{"X-Laconic-Mode", "X-Laconic-Policy", "X-Laconic-Budget", "X-Laconic-Pin"} {
		p.chat(chatBody, append(auth, headers, canary)...)
	}
	p.chat(chatBody, "Authorization", "Bearer wrong"+canary)
	for _, target := range []string{"/v1/" + canary, "/" + canary + "?key=" + canary, "/v1/models/" + canary, "/v1/models?key=" + canary, "/v1/../" + canary} {
		raw(t, p.addr, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+canary+"\r\nConnection: close\r\n\r\n")
		raw(t, p.addr, "GET "+target+" HTTP/1.1\r\nHost: "+canary+"\r\nOrigin: "+canary+"\r\nConnection: close\r\n\r\n")
	}
	raw(t, p.addr, canary+" / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	raw(t, p.addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer CANARY\r\nTransfer-Encoding: chunked\r\n\r\nCANARY\r\n")
	p.stop()
	text := log.text()
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, canary) {
			t.Errorf("logged: %s", line)
		}
	}
	for _, want := range []string{`"msg":"edit"`, `"msg":"fault"`, `"what":"panic of type string"`, `"outcome":"passed"`, `"error":"upstream_broke"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s was never logged: the test is blind there", want)
		}
	}
	for _, r := range p.replies(1) {
		if s := fmt.Sprintf("%+v", r); strings.Contains(s, canary) && !strings.Contains(s, "Model:"+canary) {
			t.Errorf("told: %s", s)
		}
	}
}

// A terminal obeys C1 controls as it obeys escapes, and marks of direction turn
// what stands behind them around.
func TestNoNameInTheLogIsObeyed(t *testing.T) {
	var log logged
	_, p := plain(t, func(o *Options) { o.Listener = LogTo(log.at(zap.DebugLevel)) })
	const odd = `\u009b31m \u0085 \u2028 \u2029 \u202e \u2066 \u200e \ufeff \u00ad \u007f \u0001`
	body := strings.NewReplacer("gpt-4o", "é 模型 "+odd, "call_1\"", "call_"+odd+"1\"").Replace(agentBody(20, 100))
	for _, mode := range []string{"on", "shadow"} {
		p.chat(body, "X-Laconic-Mode", mode).want(t, 200)
	}
	p.stop()
	text := log.text()
	if !strings.Contains(text, "é 模型 ") || !strings.Contains(text, "31m") || !strings.Contains(text, `"msg":"edit"`) {
		t.Errorf("the name is lost: %s", text)
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%U is in the log", r)
		}
	}
}

func TestATeeTellsAllInOrder(t *testing.T) {
	var calls []string
	tell := func(name string) Listener {
		return Listener{
			Rewritten: func(ReplyInfo) { calls = append(calls, name+" rewritten") },
			Passed:    func(ReplyInfo) { calls = append(calls, name+" passed") },
			Replied:   func(ReplyInfo) { calls = append(calls, name+" replied") },
			Failed:    func(FaultInfo) { calls = append(calls, name+" failed") },
		}
	}
	l := Tee(tell("a"), Listener{}, tell("b"))
	l.Rewritten(ReplyInfo{})
	l.Passed(ReplyInfo{})
	l.Replied(ReplyInfo{})
	l.Failed(FaultInfo{})
	if got := strings.Join(calls, ", "); got != "a rewritten, b rewritten, a passed, b passed, a replied, b replied, a failed, b failed" {
		t.Error(got)
	}
}
