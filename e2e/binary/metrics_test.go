package binary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"laconic/e2e/rig"

	"laconic/store/storetest"
)

// TestAlertsFire: promtool reads the rules, and each fires where it should and
// nowhere else.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	promtool := rig.Installed(t, "promtool", "prometheus")
	for _, args := range [][]string{{"check", "rules", "../../deploy/alerts.yaml"}, {"test", "rules", "testdata/alerts_test.yaml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	rules := rig.ReadFile(t, "../../deploy/alerts.yaml")
	tests := rig.ReadFile(t, "testdata/alerts_test.yaml")
	for line := range strings.Lines(string(rules)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), "- alert: "); ok && !strings.Contains(string(tests), `alertname="`+name+`"`) {
			t.Errorf("there is no test in which %s fires", name)
		}
	}
}

// TestPrometheusReadsTheBinary: a real Prometheus reads the page of a process that
// requests go through. It takes every rule, and every query of the board has an
// answer.
func TestPrometheusReadsTheBinary(t *testing.T) {
	t.Parallel()
	path := rig.Installed(t, "prometheus", "prometheus")
	upstream := httptest.NewServer(http.HandlerFunc(answersMetered))
	defer upstream.Close()
	const token = "canary-of-the-admin-page"
	p := rig.Start(t, upstream.URL+"/v1", fmt.Sprintf(`admin_token: %[2]s
summarizer: {upstream: "%[1]s/v1", model: house-summaries, api_key: house}
store: {kind: redis, url: "%[3]s", secret: a secret for this test}
models:
  - {match: "dead*", upstream: "http://127.0.0.1:1/v1", api_key: dead}
  - {match: "gpt-*"}
service: true
`, upstream.URL, token, storetest.StartRedis(t).URL()), "--admin", "127.0.0.1:0")
	if status, text := rig.Get(p.Admin + "/metrics"); status != http.StatusUnauthorized {
		t.Fatalf("the page without its token: %d %s", status, text)
	}

	m := startPrometheus(t, path, strings.TrimPrefix(p.Admin, "http://"), token)
	rounds := 0
	for range 2 { // what is counted once has no rate
		sendMetered(t, p)
		rounds++
		rig.Eventually(t, "a scrape", func() bool {
			v := m.query(t, `laconic_requests_total{route="dead*",status="502"}`)
			return len(v) == 1 && v[0] == float64(4*rounds)
		})
	}
	_, page := rig.Get(p.Admin+"/metrics", "Authorization", "Bearer "+token)
	cmd := exec.Command(rig.Installed(t, "promtool", "prometheus"), "check", "metrics") // and names, against the conventions
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	rig.Eventually(t, "rules", func() bool { return m.rules(t) })

	board := rig.ReadFile(t, "../../deploy/grafana.json")
	var b struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(board, &b); err != nil {
		t.Fatal(err)
	}
	chosen := strings.NewReplacer("$__rate_interval", "1m", "$job", "laconic", "$instance", ".*", "$route", ".*")
	queries := 0
	for _, panel := range b.Panels {
		for _, target := range panel.Targets {
			queries++
			if strings.Contains(target.Expr, "laconic_client_") {
				continue // nobody has a client key here: with one, what is not read would be refused
			}
			rig.Eventually(t, fmt.Sprintf("an answer to %q, %s", panel.Title, target.Expr), func() bool {
				for _, v := range m.query(t, chosen.Replace(target.Expr)) {
					if v == v {
						return true // a number, of which 0/0 is none
					}
				}
				return false
			})
		}
	}
	if queries < 40 {
		t.Errorf("the board has %d queries", queries)
	}
	for _, c := range []string{
		`sum(laconic_epochs_total) > 0`, `laconic_prefix_breaks_total{reason="retry"} > 0`, `laconic_results_dropped_total > 0`,
		`laconic_refusals_total{reason="overflow",second_send="answered"} > 0`, `laconic_truncated_answers_total{ended="without_done"} > 0`,
		`laconic_upstream_up{upstream="http://127.0.0.1:1"} == 0`, `sum(laconic_upstream_cached_tokens_total) > 0`,
		`laconic_summaries_total{result="made"} > 0`, `laconic_requests_by_kind_total{kind="compaction of crush",outcome="untouched"} > 0`, `laconic_learnt_facts{fact="window"} > 0`, `laconic_passed_total{endpoint="other"} > 0`, `ALERTS{alertname="LaconicResultsDropped"}`,
	} {
		rig.Eventually(t, c, func() bool { return len(m.query(t, c)) > 0 })
	}
}

// answersMetered is an upstream with a window of 6,000 words for the model gpt-tight,
// that ends the streams of gpt-broken early. Most of a prompt is cached.
func answersMetered(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	var req struct{ Model string }
	_ = json.Unmarshal(body, &req)
	size, text := len(bytes.Fields(body)), "The parser accepts quoted names now."
	switch {
	case !strings.HasSuffix(r.URL.Path, "/chat/completions"):
		_, _ = io.WriteString(w, `{"data":[]}`)
		return
	case req.Model == "gpt-tight" && size > 6000:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is 12000 tokens. However, your messages resulted in %d tokens.",`+
			`"type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 2*size)
		return
	case req.Model == "gpt-broken":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"The"}}]}`+"\n\n")
		return
	case req.Model == "house-summaries":
		text = "The user wants the parser to accept quoted names. The files of the parser were read one after the other; no file was changed yet."
	}
	_, _ = fmt.Fprintf(w, `{"id":"1","object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":%q},`+
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":8,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`,
		req.Model, text, size, size+8, size/2)
}

// sendMetered sends requests of every kind that the board shows.
func sendMetered(t *testing.T, p *rig.Laconic) {
	t.Helper()
	send := func(path, body string, headers ...string) { rig.Post(t, p.URL+path, []byte(body), headers...) }
	const chat = "/v1/chat/completions"
	for calls := 2; calls <= 30; calls += 2 {
		send(chat, string(agentBody(calls, calls*1500)), "X-Laconic-Budget", "6000")
	}
	send(chat, strings.ReplaceAll(string(agentBody(40, 60_000)), `"gpt-4o"`, `"gpt-tight"`))
	send(chat, `{"model":"gpt-broken","stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	send(chat, `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c","content":"nobody's"}]}`)
	send(chat, `{"model":"gpt-4o","messages":`)
	send(chat, `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"Provide a detailed summary of our conversation above."}]}`)
	for range 4 {
		send(chat, `{"model":"dead","messages":[{"role":"user","content":"hi"}]}`)
	}
	send("/v1/embeddings", `{"model":"gpt-4o","input":"x"}`)
	send("/v1/what-is-this", `{}`)
	send("/compact", string(agentBody(4, 3000)))
}

// prometheus is a Prometheus of a test.
type prometheus struct{ url string }

// startPrometheus starts one on a free loopback port. It reads the page of a process
// and the rules of deploy, and ends with the test.
func startPrometheus(t *testing.T, path, target, token string) *prometheus {
	t.Helper()
	rules, err := filepath.Abs("../../deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	addr, dir := storetest.FreeAddress(t), t.TempDir()
	rig.WriteFile(t, filepath.Join(dir, "prometheus.yaml"), fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: laconic
    authorization: {credentials: %q}
    static_configs: [{targets: [%q]}]
`, rules, token, target))
	var log bytes.Buffer
	cmd := exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--log.level=warn")
	cmd.Dir, cmd.Stderr = dir, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus: %s", &log)
		}
	})
	m := &prometheus{"http://" + addr}
	rig.Eventually(t, "Prometheus", func() bool { status, _ := rig.Get(m.url + "/-/ready"); return status == http.StatusOK })
	return m
}

// get reads an answer of the API into data.
func (m *prometheus) get(t *testing.T, path string, data any) {
	t.Helper()
	_, text := rig.Get(m.url + path)
	answer := struct {
		Status string
		Data   any
	}{Data: data}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v, %s", path, err, text)
	}
}

// query returns the values of an expression now.
func (m *prometheus) query(t *testing.T, expr string) (values []float64) {
	t.Helper()
	var data struct {
		Result []struct{ Value [2]any }
	}
	m.get(t, "/api/v1/query?query="+url.QueryEscape(expr), &data)
	for _, r := range data.Result {
		var v float64
		if _, err := fmt.Sscan(fmt.Sprint(r.Value[1]), &v); err != nil {
			t.Fatal(expr, r.Value, err)
		}
		values = append(values, v)
	}
	return values
}

// rules reports whether every rule was evaluated. A rule that cannot be fails the
// test.
func (m *prometheus) rules(t *testing.T) bool {
	t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	m.get(t, "/api/v1/rules", &data)
	n := 0
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if r.LastError != "" {
				t.Fatalf("%s: %s", r.Name, r.LastError)
			}
			if r.Health != "ok" {
				return false
			}
			n++
		}
	}
	return n > 10
}
