package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"laconic/store/storetest"
)

// examinee is an upstream with one model in a window of 8,000 tokens, as vLLM
// publishes it, and faults that can be switched on.
type examinee struct {
	*httptest.Server
	late    atomic.Int64 // of its clock, in hours
	counted float64      // its count of a prompt, in shares of 4 bytes a token
	cold    atomic.Bool  // its prompt cache serves nothing
	open    bool         // it wants no key, and refuses a wrong one
}

const doctorKey = "sk-right"

func newExaminee(t *testing.T) *examinee {
	e := &examinee{counted: 1}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *examinee) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Date", time.Now().Add(-time.Duration(e.late.Load())*time.Hour).UTC().Format(http.TimeFormat))
	key := r.Header.Get("Authorization")
	if key != "Bearer "+doctorKey && (!e.open || key != "" && key != "Bearer none") {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var req struct{ Stream bool }
	_ = json.Unmarshal(body, &req)
	switch {
	case r.URL.Path == "/v1/models":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"small","object":"model","owned_by":"vllm","max_model_len":8000}]}`)
	case r.URL.Path != "/v1/chat/completions":
		http.NotFound(w, r)
	case req.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 40 { // the model takes its time
			_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"small\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d, \"}}]}\n\n", i+1)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	default:
		prompt := int(e.counted * float64(len(body)) / 4)
		cached := prompt * 9 / 10
		if e.cold.Load() {
			cached = 0
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"small","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":2,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, prompt, prompt+2, cached)
	}
}

// diagnosis is a line of laconic doctor --json.
type diagnosis struct{ Check, State, Says, Fix string }

// diagnosed runs laconic doctor with a configuration, with --json and without, and
// returns its exit code and what it found.
func diagnosed(t *testing.T, config string, args ...string) (code int, all []diagnosis) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "laconic.yaml"), config)
	run := func(args ...string) (string, int) {
		cmd := exec.Command(command(t), append([]string{"doctor"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "OPENAI_API_KEY="+doctorKey, "OPENAI_BASE_URL=", "HTTP_PROXY=")
		out, err := cmd.Output()
		var bad *exec.ExitError
		if err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, same := run(args...)
	if same != code {
		t.Errorf("it exits with %d, and with %d for --json", same, code)
	}
	for _, d := range all {
		if d.Fix != "" && !strings.Contains(text, "\n           fix: "+d.Fix+"\n") {
			t.Errorf("the text has no %q:\n%s", d.Fix, text)
		}
	}
	if strings.Contains(text+out, doctorKey) {
		t.Errorf("a key is shown:\n%s", text)
	}
	return code, all
}

// only fails the test unless the one warning or failure is of a check and has these
// words and this cure; with "" for the check, unless there is no finding at all. The
// proxies of these tests are another set-up's, which doctor says beside it.
func only(t *testing.T, all []diagnosis, check, state, says, fix string) {
	t.Helper()
	found := check == ""
	for _, d := range all {
		switch {
		case d.State != "warn" && d.State != "fail", d.Check == "running" && strings.Contains(d.Says, "is another set-up's: laconic "):
		case d.Check == check && d.State == state && strings.Contains(d.Says, says) && strings.Contains(d.Fix, fix):
			found = true
		default:
			t.Errorf("%+v", d)
		}
	}
	if !found {
		t.Errorf("no %s of %s: %+v", state, check, all)
	}
}

// TestDoctorThroughTheBinary: of faults that are planted one at a time, each is found
// alone, with its cure and its exit code.
func TestDoctorThroughTheBinary(t *testing.T) {
	e := newExaminee(t)
	const alone = "admin: off\n"
	f := func(name string, want int, config, check, state, says, fix string, args ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			code, all := diagnosed(t, config, args...)
			only(t, all, check, state, says, fix)
			if code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
		})
	}
	row := func(settings string) string {
		return alone + "upstream: " + e.URL + "/v1\nmodels:\n  - {match: small, " + settings + "}\n"
	}
	f("none", 0, row("window: 8000"), "", "", "", "", "--probe")
	f("no upstream", 2, alone+"upstream: http://"+storetest.FreeAddress(t)+"/v1\n", "upstream", "fail", "connection refused)", "start it, or correct upstream")
	f("wrong key", 2, alone+"upstream: "+e.URL+"/v1\nmodels:\n  - {match: \"*\", api_key: sk-wrong}\n", "upstream", "fail", `refuses api_key of the row "*" with 401`, `correct api_key of the row "*"`)
	f("wrong path", 2, alone+"upstream: "+e.URL+"/api\n", "upstream", "fail", "has no list of models (GET /api/models: 404)", "upstream: "+e.URL+"/v1")
	f("window", 2, row("window: 32000"), "windows", "fail", "small: window is 32000, and the upstream runs it with 8000", `window: 8000 in the row "small"`)
	f("typing", 2, alone+"upstraem: "+e.URL+"/v1\n", "configuration", "fail", "unknown key", "did you mean upstream?")

	held := nginx(t, e.URL)
	f("buffering", 1, alone+"upstream: "+held+"/v1\n", "stream", "warn", "something holds streams back", "nginx: proxy_buffering off", "--probe")

	slow := newExaminee(t)
	slow.late.Store(1)
	f("clock", 1, alone+"upstream: "+slow.URL+"/v1\n", "clock", "warn", "the clock differs by 1h0m", "set the clock")
}

// TestDoctorAsksTheStore for all that a Redis is used for, and says what would mend it.
func TestDoctorAsksTheStore(t *testing.T) {
	e := newExaminee(t)
	f := func(name, url, settings, says, fix string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, all := diagnosed(t, "admin: off\nupstream: "+e.URL+"/v1\nstore: {kind: redis, url: \""+url+"\", secret: canary of a long secret"+settings+"}\n")
			if says == "" {
				only(t, all, "", "", "", "")
				if !slices.ContainsFunc(all, func(d diagnosis) bool { return d.Check == "store" && d.State == "ok" }) || code != 0 {
					t.Errorf("%d %+v", code, all)
				}
				return
			}
			only(t, all, "store", "warn", says+" ("+url+")", fix)
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			for _, d := range all {
				if strings.Contains(d.Says+d.Fix, "canary") {
					t.Errorf("a secret is shown: %+v", d)
				}
			}
		})
	}
	locked := storetest.StartRedis(t, strings.Fields("--requirepass canary-password --user half on >canary-half ~* &* -@all +@connection +getrange +subscribe")...)
	f("fine", locked.URL(), ", password: canary-password", "", "")
	f("no password", locked.URL(), "", "the store refuses: NOAUTH", "set store.password")
	f("wrong password", locked.URL(), ", password: canary-wrong", "the store refuses: WRONGPASS", "correct store.username and store.password")
	f("a user with less", locked.URL(), ", username: half, password: canary-half", "the store refuses put, lock, call: NOPERM", "the rights that docs/redis.md lists")
	replica := storetest.StartRedis(t, "--replicaof", "127.0.0.1", "1")
	f("a replica", replica.URL(), "", "the store refuses: READONLY", "name the master in store.url")
	f("no server", "redis://"+storetest.FreeAddress(t)+"/0", "", "the store does not answer: no connection", "start it, or correct store.url")
	f("no TLS", strings.Replace(replica.URL(), "redis:", "rediss:", 1), "", "the store does not answer: no answer in time", "redis://, or rediss:// if it speaks TLS")
}

// nginx puts an nginx that buffers in front of an upstream.
func nginx(t *testing.T, upstream string) (url string) {
	t.Helper()
	path := installed(t, "nginx", "nginx")
	dir, at := t.TempDir(), storetest.FreeAddress(t)
	conf := filepath.Join(dir, "nginx.conf")
	writeFile(t, conf, fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server { listen %[2]s; location / { proxy_pass %[3]s; proxy_buffering on; } }
}
`, dir, at, upstream))
	cmd := exec.Command(path, "-p", dir, "-e", "stderr", "-c", conf)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	url = "http://" + at
	if !soon(func() bool {
		select {
		case <-done:
			t.Fatalf("nginx does not start: %s", said.String())
		default:
		}
		res, err := http.Get(url + "/v1/models")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	}) {
		t.Fatal("nginx does not answer")
	}
	return url
}

// TestDoctorReadsTheRunningProxy: what only traffic shows is found in what a running
// process counted.
func TestDoctorReadsTheRunningProxy(t *testing.T) {
	watch := func(t *testing.T, e *examinee) (config string, ask func(n int)) {
		binary, err := laconicPath()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "laconic.yaml"), "admin: 127.0.0.1:0\nupstream: "+e.URL+"/v1\nmodels:\n  - {match: small, window: 8000, tokenizer: bytes/4}\n")
		p, err := start(binary, dir, os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.stop(); err != nil {
				t.Error(err)
			}
		})
		body := `{"model":"small","messages":[{"role":"user","content":"` + strings.Repeat("Read this. ", 100) + `"}]}`
		return "admin: " + strings.TrimPrefix(p.Admin, "http://") + "\nupstream: " + e.URL + "/v1\n", func(n int) {
			t.Helper()
			for range n {
				r, err := http.NewRequest(http.MethodPost, p.URL+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+doctorKey)
				res, err := p.client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Fatal(res.Status)
				}
			}
		}
	}
	t.Run("counts", func(t *testing.T) {
		e := newExaminee(t)
		e.counted = 2
		config, ask := watch(t, e)
		ask(20)
		code, all := diagnosed(t, config)
		only(t, all, "counts", "warn", "upstreams counted", "name the tokenizer of the model in its row")
		if code != 1 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("cache reads", func(t *testing.T) {
		e := newExaminee(t)
		config, ask := watch(t, e)
		ask(256)
		_, before := diagnosed(t, config)
		only(t, before, "", "", "", "")
		e.cold.Store(true)
		ask(128) // a third of all: in sum the cache still serves 60 %
		code, all := diagnosed(t, config)
		only(t, all, "cache", "warn", "cache reads of untouched prompts fell: 0 % of the newest answers' prompts, 90 % of those before", "look for what changed")
		if code != 1 {
			t.Errorf("exit code %d", code)
		}
	})
}
