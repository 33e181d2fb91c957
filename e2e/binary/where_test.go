package binary

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"laconic/e2e/rig"

	"laconic/store/storetest"
)

// pasted returns the lines of docs/where.md in a language, with what is written there
// replaced: pairs of old and new.
func pasted(t *testing.T, language string, replace ...string) string {
	t.Helper()
	manual := rig.ReadFile(t, "../../docs/where.md")
	_, text, ok := strings.Cut(string(manual), "```"+language+"\n")
	if !ok {
		t.Fatalf("docs/where.md has no lines for %s", language)
	}
	text, _, _ = strings.Cut(text, "```")
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("docs/where.md says nothing of %q for %s", replace[i], language)
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text
}

// TestWhatStandsBefore pastes the manual's lines for nginx and HAProxy into the
// programs themselves: an event arrives before there is another, a client that leaves
// ends the upstream's request, and a large body comes through.
func TestWhatStandsBefore(t *testing.T) {
	t.Parallel()
	f := func(name string, start func(t *testing.T, dir, listen, to, admin string) *exec.Cmd) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, left := make(chan bool), make(chan bool, 1)
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != "POST" { // what models it has
					http.NotFound(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				for i := range 3 {
					_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d\"}}]}\n\n", i)
					w.(http.Flusher).Flush()
					select {
					case <-seen:
					case <-r.Context().Done():
						left <- true
						return
					}
				}
				_, _ = io.WriteString(w, "data: [DONE]\n\n")
			}))
			defer upstream.Close()
			admin, listen := storetest.FreeAddress(t), storetest.FreeAddress(t)
			p := rig.Start(t, upstream.URL+"/v1", "", "--admin", admin)
			// What asks for readiness takes a proxy for down that is still starting.
			rig.Eventually(t, "it is ready", func() bool { status, _ := rig.Get(p.Admin + "/readyz"); return status == 200 })
			dir := t.TempDir()
			before := start(t, dir, listen, strings.TrimPrefix(p.URL, "http://"), admin)
			log, err := os.Create(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			before.Stdout, before.Stderr = log, log
			if err := before.Start(); err != nil {
				t.Fatal(err)
			}
			said := func() string { text, _ := os.ReadFile(log.Name()); return string(text) }
			defer func() { _ = before.Wait() }()
			defer func() { _ = before.Process.Signal(syscall.SIGTERM) }()

			post := func(body string) *http.Response {
				t.Helper()
				r, err := http.NewRequest("POST", "http://"+listen+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Host = "agents.example" // as clients from elsewhere name it
				r.Header.Set("Content-Type", "application/json")
				res, err := rig.Client.Do(r)
				if err != nil {
					t.Fatalf("%v\n%s", err, said())
				}
				return res
			}
			rig.Eventually(t, name+" before Laconic", func() bool {
				status, _ := rig.Get("http://" + listen + "/v1/models")
				return status == http.StatusNotFound // the upstream's
			})

			res := post(request("a short one"))
			defer res.Body.Close()
			if res.StatusCode != 200 || res.Header.Get("X-Laconic-Request-Id") == "" {
				t.Fatalf("%s\n%s", res.Status, said())
			}
			lines := bufio.NewScanner(res.Body)
			for i := range 3 {
				for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: {") {
				}
				if !strings.HasPrefix(lines.Text(), "data: {") {
					t.Fatalf("event %d did not arrive before the next: %q, %v", i, lines.Text(), lines.Err())
				}
				seen <- true
			}

			res = post(request(strings.Repeat("large ", 5<<20))) // 30 MB
			if lines = bufio.NewScanner(res.Body); res.StatusCode != 200 || !lines.Scan() {
				t.Errorf("a large body: %s\n%s", res.Status, said())
			}
			res.Body.Close()
			select {
			case <-left:
			case <-time.After(rig.Patience):
				t.Error("the client left, and the upstream was not told")
			}
		})
	}
	f("nginx", func(t *testing.T, dir, listen, to, _ string) *exec.Cmd {
		program := rig.Installed(t, "nginx", "nginx")
		rig.WriteFile(t, filepath.Join(dir, "nginx.conf"), "daemon off;\npid "+dir+"/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+
			"client_body_temp_path "+dir+"/body;\nproxy_temp_path "+dir+"/proxy;\nfastcgi_temp_path "+dir+"/f;\nuwsgi_temp_path "+dir+"/u;\nscgi_temp_path "+dir+"/s;\n"+
			pasted(t, "nginx", "127.0.0.1:7280", to, "listen 8080", "listen "+listen)+"}\n")
		return exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	})
	f("haproxy", func(t *testing.T, dir, listen, to, admin string) *exec.Cmd {
		program := rig.Installed(t, "haproxy", "haproxy")
		_, port, _ := strings.Cut(admin, ":")
		rig.WriteFile(t, filepath.Join(dir, "haproxy.cfg"), pasted(t, "haproxy", "127.0.0.1:7280 port 7281", to+" port "+port, "bind :8080", "bind "+listen))
		return exec.Command(program, "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	})
}

// TestConfigurationsOfWhereAreRight asks the command what it makes of those that the
// manual has for Laconic itself.
func TestConfigurationsOfWhereAreRight(t *testing.T) {
	t.Parallel()
	manual := rig.ReadFile(t, "../../docs/where.md")
	blocks := strings.Split(string(manual), "```yaml\nupstream: ")[1:]
	if len(blocks) < 3 {
		t.Fatalf("only %d configurations", len(blocks))
	}
	for _, b := range blocks {
		text, _, _ := strings.Cut("upstream: "+b, "```")
		file := filepath.Join(t.TempDir(), "laconic.yaml")
		rig.WriteFile(t, file, text)
		check := exec.Command(rig.Command(t), "check", file)
		check.Env = append(os.Environ(), "LACONIC_GATEWAY_KEY=0123456789abcdef")
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// request returns the body of a request for a stream with one message.
func request(content string) string {
	return `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"` + content + `"}]}`
}
