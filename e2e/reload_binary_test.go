package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// saysItsName is an upstream whose answers are its name.
func saysItsName(t *testing.T, name string) *httptest.Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// reloads is a running laconic with a configuration file of its own.
type reloads struct {
	*running
	t    *testing.T
	file string
}

func startReloads(t *testing.T, dir, src string) *reloads {
	t.Helper()
	r := &reloads{t: t, file: filepath.Join(dir, "laconic.yaml")}
	if src != "" {
		writeFile(t, r.file, src)
	}
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	if r.running, err = start(path, dir, os.Environ(), "--admin", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil || strings.Contains(r.output(), "DATA RACE") {
			t.Errorf("the proxy did not end as it should: %v\n%s", err, r.output())
		}
	})
	return r
}

// answers asks a question, and returns what the upstream in force says.
func (r *reloads) answers() string {
	r.t.Helper()
	res, err := r.client.Post(r.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Hi."}]}`))
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		r.t.Fatalf("%d %s %v", res.StatusCode, text, err)
	}
	return string(text)
}

func (r *reloads) becomes(how, want string) {
	r.t.Helper()
	eventually(r.t, how, func() bool { return r.answers() == want })
}

// says waits until the log has n lines with a text.
func (r *reloads) says(n int, text string) {
	r.t.Helper()
	if !soon(func() bool { return strings.Count(r.output(), text) >= n }) {
		r.t.Fatalf("not %d × %s in\n%s", n, text, r.output())
	}
}

func (r *reloads) rename(src string) {
	r.t.Helper()
	writeFile(r.t, r.file+".new", src)
	if err := os.Rename(r.file+".new", r.file); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reloads) post(path string) (int, string) {
	r.t.Helper()
	res, err := r.client.Post(r.Admin+path, "", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

const (
	wasRead  = `"msg":"the configuration was read again"`
	wasNot   = `"msg":"the new configuration is not used"`
	isMissed = "there is no such file"
)

// TestReloadThroughTheBinary: a configuration that is saved in the ways of editors and
// of people, and the signal.
func TestReloadThroughTheBinary(t *testing.T) {
	t.Parallel()
	a, b := saysItsName(t, "a"), saysItsName(t, "b")
	of := func(srv *httptest.Server) string { return "upstream: " + srv.URL + "/v1\n" }
	r := startReloads(t, t.TempDir(), of(a))
	r.becomes("the start", "a")

	// Truncated, then written: what stands between is never read.
	if err := os.Truncate(r.file, 0); err != nil {
		t.Fatal(err)
	}
	writeFile(t, r.file, of(b))
	r.becomes("truncated, then written", "b")
	if out := r.output(); strings.Contains(out, wasNot) {
		t.Errorf("a file was read before it rested:\n%s", out)
	}
	r.rename(of(a))
	r.becomes("renamed", "a")
	r.rename(of(b))
	r.becomes("renamed again", "b")

	// What is wrong is said in full, and changes nothing.
	writeFile(t, r.file, of(a)+"strict: maybe\nlisten: 1\nadmin_token: short\n")
	r.says(1, wasNot)
	for _, want := range []string{":2:9: strict must be true or false", ":3:9: listen must be", ":4:14: admin_token is shorter than 16 characters"} {
		r.says(1, want)
	}
	writeFile(t, r.file, "")
	r.says(1, "the file has no settings")
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.says(1, isMissed)
	if got := r.answers(); got != "b" {
		t.Errorf("%s answers", got)
	}
	writeFile(t, r.file, of(a)+"listen: 127.0.0.1:1\nstore: {ttl: 1h}\n")
	r.becomes("there again", "a")
	r.says(1, `"needs_restart":["store"]`) // listen is a flag
	if runtime.GOOS != "windows" {
		n := strings.Count(r.output(), wasRead)
		if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		r.says(n+1, wasRead)
		r.says(1, `"cause":"SIGHUP"`)
	}
	if status, text := r.post("/reload"); status != 200 || !strings.Contains(text, "laconic.yaml was read again\nchanged: nothing\nneeds a restart:\n  store\n") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := r.post("/log-level?level=debug"); status != 200 || text != "debug\n" {
		t.Errorf("%d %s", status, text)
	}
	res, err := r.client.Get(r.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); !strings.Contains(string(text), "\nlaconic_config_last_reload_successful 1\n") || !strings.Contains(string(text), `upstream="`+a.URL+`"`) {
		t.Errorf("the metrics say\n%s", text)
	}
}

// TestReloadOfAFileThatIsCut: behind any of its lines. Whatever of it is a
// configuration, requests are answered under the old or the new one, with a key, and
// nobody else comes in.
func TestReloadOfAFileThatIsCut(t *testing.T) {
	t.Parallel()
	up := saysItsName(t, "a")
	lines := strings.Split(fmt.Sprintf(`upstream: %s/v1
policies:
  careful:
    on_overflow: reject
models:
- match: "m*"
  window: 9000
  policy: careful
  api_key: sk-one
- match: "*"
  api_key: sk-two
client_keys:
- the-first-client-key
strict: true`, up.URL), "\n")
	r := startReloads(t, t.TempDir(), strings.Join(lines, "\n"))
	asks := func(key string, want int) {
		t.Helper()
		req, err := http.NewRequest("POST", r.URL+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Hi."}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", key, res.StatusCode, want)
		}
	}
	taken := 0
	for n := range lines {
		r.rename(strings.Join(lines[:n], "\n"))
		status, text := r.post("/reload")
		if status != 200 && status != 422 {
			t.Errorf("%d lines: %d %s", n, status, text)
		}
		if status == 200 {
			taken++
		}
		asks("the-first-client-key", 200)
		asks("anybody-else-at-all", 401)
	}
	if taken == 0 || taken == len(lines) {
		t.Errorf("%d of %d files were taken", taken, len(lines))
	}
}

// TestAnOriginComesBack: a file that is cut for a moment shuts nobody out for good.
func TestAnOriginComesBack(t *testing.T) {
	t.Parallel()
	up := saysItsName(t, "a")
	cut := "upstream: " + up.URL + "/v1\n"
	whole := cut + "allowed_origins: [\"http://ok.example\"]\n"
	r := startReloads(t, t.TempDir(), whole)
	asks := func(origin string) int {
		t.Helper()
		req, err := http.NewRequest("GET", r.URL+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		res, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	f := func(src string, ok, other int) {
		t.Helper()
		writeFile(t, r.file, src)
		if status, text := r.post("/reload"); status != 200 {
			t.Errorf("%d %s", status, text)
		}
		if a, b := asks("http://ok.example"), asks("http://other.example"); a != ok || b != other {
			t.Errorf("%d and %d, want %d and %d, under\n%s", a, b, ok, other, src)
		}
	}
	f(whole, 200, 403)
	f(cut, 403, 403)
	f(whole, 200, 403)
	f(cut+"allowed_origins: [\"http://other.example\"]\n", 403, 403)
	f(cut+"allowed_origins: [\"http://other.example\", \"http://ok.example\"]\n", 200, 403)
}
