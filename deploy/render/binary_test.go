package render

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
)

// patience is how long anything may take that should happen soon.
const patience = 30 * time.Second

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "laconic-render-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "laconic")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// laconic returns the command with these arguments and what a Secret would put into its
// environment.
func laconic(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	for _, key := range secretKeys(t) {
		cmd.Env = append(cmd.Env, key+"="+token)
	}
	return cmd
}

const token = "a-token-of-the-test-0123456789"

var secretKey = regexp.MustCompile(`--from-literal=([A-Z_]+)=`)

// secretKeys returns the keys of the Secret that the manual makes.
func secretKeys(t *testing.T) (keys []string) {
	for _, m := range secretKey.FindAllStringSubmatch(manual(t), -1) {
		keys = append(keys, m[1])
	}
	return keys
}

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pod returns the proxy's container of a cluster, its configuration, and the paths of
// its probes.
func pod(t *testing.T, c *Cluster) (args []string, config string, probes map[string]string) {
	t.Helper()
	probes = map[string]string{}
	for _, d := range c.Deployments {
		for _, k := range d.Spec.Template.Spec.Containers {
			if k.Name == "laconic" {
				at := ""
				if at, config = c.Configuration(&d.Spec.Template.Spec, &k); at == "" {
					t.Fatal("no configuration is mounted as a folder")
				}
				for name, p := range Probes(&k) {
					if p == nil || p.HTTPGet == nil {
						t.Fatalf("there is no %s probe", name)
					}
					probes[name] = p.HTTPGet.Path
				}
				return k.Args, config, probes
			}
		}
	}
	t.Fatal("no container is called laconic")
	return nil, "", nil
}

// checked returns what laconic check says of a configuration; "": nothing.
func checked(t *testing.T, config string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "laconic.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := laconic(t, "check", file).CombinedOutput(); err != nil {
		return string(out)
	}
	return ""
}

// TestConfigurationsAreRight asks the command itself. What is planted shows that it
// would be heard.
func TestConfigurationsAreRight(t *testing.T) {
	each(t, func(t *testing.T, objects []Object) {
		_, config, _ := pod(t, cluster(t, objects))
		if says := checked(t, config); says != "" {
			t.Error(says)
		}
		if says := checked(t, strings.Replace(config, "upstream:", "upsteam:", 1)); !strings.Contains(says, "upsteam") {
			t.Errorf("a misspelt key: %q", says)
		}
		if says := checked(t, config+"\nclient_keys: [\"${NOT_IN_THE_SECRET}\"]\n"); !strings.Contains(says, "NOT_IN_THE_SECRET") {
			t.Errorf("a key that the Secret has not: %q", says)
		}
	})
}

// TestTheManualsCheck runs what the manual says to type before a configuration is
// changed, with a helm that prints the chart's ConfigMap.
func TestTheManualsCheck(t *testing.T) {
	_, script, _ := strings.Cut(manual(t), "```sh\n# With Helm, this is the file")
	script, _, _ = strings.Cut(script, "```")
	for upstream, fails := range map[string]bool{"https://mine.example/v1": false, "ftp://mine.example": true} {
		files, err := Files(chart, "{redis: {enabled: true}, config: {upstream: '"+upstream+"'}}")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		at := filepath.Join(dir, "configmap.yaml")
		if err := os.WriteFile(at, []byte("---\n# Source: laconic/templates/configmap.yaml\n"+files["laconic/templates/configmap.yaml"]), 0o600); err != nil {
			t.Fatal(err)
		}
		program, err := built()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "helm() { cat '"+at+"'; }; laconic() { '"+program+"' \"$@\"; }\n#"+script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if (err != nil) != fails || !strings.Contains(string(out), upstream) {
			t.Errorf("%s: %v %s", upstream, err, out)
		}
	}
}

// mount writes a ConfigMap as a kubelet does: the file is a link through a folder that
// is swapped as a whole.
func mount(t *testing.T, folder string, generation int, config string) {
	t.Helper()
	data := fmt.Sprintf("..generation_%d", generation)
	for _, err := range []error{
		os.MkdirAll(filepath.Join(folder, data), 0o755),
		os.WriteFile(filepath.Join(folder, data, "laconic.yaml"), []byte(config), 0o644),
		os.Symlink(data, filepath.Join(folder, "..data_tmp")),
		os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..data/laconic.yaml", filepath.Join(folder, "laconic.yaml")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	if generation > 0 {
		_ = os.RemoveAll(filepath.Join(folder, fmt.Sprintf("..generation_%d", generation-1)))
	}
}

// started runs the proxy as its container does, on ports that are free, and returns
// where its two ports are.
func started(t *testing.T, args []string, folder, upstream string) (cmd *exec.Cmd, http, admin string) {
	t.Helper()
	as := make([]string, len(args))
	for i, a := range args {
		as[i] = strings.Replace(a, "/etc/laconic", folder, 1)
	}
	cmd = laconic(t, append(as, "--listen", ":0", "--admin", ":0", "--upstream", upstream)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	listening := regexp.MustCompile(`"listening":"http://[^"]*:(\d+)".*"health":"http://[^"]*:(\d+)/`)
	lines, found := bufio.NewScanner(log), make(chan []string, 1)
	go func() {
		defer close(found)
		for lines.Scan() {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				found <- m
			}
		}
	}()
	select {
	case m := <-found:
		if m == nil {
			t.Fatal("it ended")
		}
		return cmd, "http://127.0.0.1:" + m[1], "http://127.0.0.1:" + m[2]
	case <-time.After(patience):
		t.Fatal("it does not listen")
	}
	return nil, "", ""
}

func get(t *testing.T, method, url, bearer string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not: %s", what)
		}
	}
}

// curl finds the examples that are meant for our two ports.
var curl = regexp.MustCompile(`curl ([^\n|]*?)http://[a-z0-9.]+:(7280|7281)(/[^\s'"|]*)?`)

// TestAPodOfTheManifests runs the proxy with the arguments and the configuration of the
// manifests, mounted as in a pod: probes need no token, Prometheus' is the Secret's,
// what the manual says to type works, another ConfigMap is taken by the same process,
// and at its end it is not ready before it stops to serve.
func TestAPodOfTheManifests(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
	}))
	defer upstream.Close()
	c := cluster(t, kustomized(t, "overlays/prometheus"))
	args, config, probes := pod(t, c)
	folder := t.TempDir()
	mount(t, folder, 0, config)
	cmd, http, admin := started(t, args, folder, upstream.URL+"/v1")

	for name, path := range probes {
		eventually(t, "a "+name+" probe that succeeds, "+path, func() bool {
			status, _ := get(t, "GET", admin+path, "")
			return status == 200
		})
	}
	metrics := ""
	for _, e := range c.Monitors[0].Spec.Endpoints {
		if status, _ := get(t, "GET", admin+e.Path, ""); status != 401 {
			t.Errorf("%s without the token: %d", e.Path, status)
		}
		status := 0
		if status, metrics = get(t, "GET", admin+e.Path, token); status != 200 {
			t.Errorf("%s: %d", e.Path, status)
		}
	}
	for _, name := range scaledBy(t) {
		if !strings.Contains(metrics, "\n"+name+" ") {
			t.Errorf("there is no %s", name)
		}
	}

	_, notes, err := Chart(chart, "")
	if err != nil {
		t.Fatal(err)
	}
	examples := curl.FindAllStringSubmatch(manual(t)+notes, -1)
	if len(examples) < 3 {
		t.Errorf("only %d examples", len(examples))
	}
	for _, m := range examples {
		method, bearer, url := "GET", "", http+m[3]
		if strings.Contains(m[1], "-X POST") {
			method = "POST"
		}
		if m[2] == "7281" {
			url = admin + m[3]
		}
		if strings.Contains(m[1], "Authorization: Bearer") {
			bearer = token
		}
		if status, text := get(t, method, url, bearer); status != 200 {
			t.Errorf("%s: %d %s", m[0], status, text)
		}
	}

	mount(t, folder, 1, config+"\nmodels: [{match: \"a-new-row*\", window: 32768}]\n")
	eventually(t, "the new ConfigMap", func() bool {
		_, metrics := get(t, "GET", admin+"/metrics", token)
		return strings.Contains(metrics, `route="a-new-row*"`)
	})
	mount(t, folder, 2, "upsteam: x\n")
	eventually(t, "the wrong ConfigMap", func() bool {
		_, metrics := get(t, "GET", admin+"/metrics", token)
		return strings.Contains(metrics, "laconic_config_last_reload_successful 0")
	})
	if status, _ := get(t, "GET", http+"/v1/models", ""); status != 200 {
		t.Errorf("after a wrong ConfigMap: %d", status)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "not ready", func() bool {
		status, _ := get(t, "GET", admin+probes["readiness"], "")
		return status == 503
	})
	if status, _ := get(t, "GET", http+"/v1/models", ""); status != 200 {
		t.Errorf("while it drains: %d", status)
	}
	if status, _ := get(t, "GET", admin+probes["liveness"], ""); status != 200 {
		t.Errorf("it is restarted while it drains: %d", status)
	}
}

// TestTheRedisOfTheManifests runs redis-server with the arguments of its container, and
// the proxy beside it: it has the password and no other, its probe sees that, and what
// a full server does is what the arguments say.
func TestTheRedisOfTheManifests(t *testing.T) {
	for _, name := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("LACONIC_NO_SKIP") != "" {
				t.Fatalf("no %s here (apt install redis-server)", name)
			}
			t.Skipf("no %s here (apt install redis-server)", name)
		}
	}
	each(t, func(t *testing.T, objects []Object) {
		c := cluster(t, objects)
		for _, d := range c.Deployments {
			if k := d.Spec.Template.Spec.Containers[0]; k.Name == "redis" {
				besideRedis(t, c, &k)
			}
		}
	})
}

func besideRedis(t *testing.T, c *Cluster, k *core.Container) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	server := exec.Command(k.Args[0], append(slices.Clone(k.Args[1:]), "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir())...)
	server.Env = append(os.Environ(), k.Env[0].Name+"="+token)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	ask := func(password string, words ...string) (string, error) {
		cmd := exec.Command(words[0], append([]string{"-p", port}, words[1:]...)...)
		cmd.Env = []string{k.Env[0].Name + "=" + password}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	probe := Probes(k)["readiness"].Exec.Command
	eventually(t, "a probe that succeeds", func() bool { _, err := ask(token, probe...); return err == nil })
	// The container's process is the server itself, no shell that a SIGTERM would not end.
	if seen, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", server.Process.Pid)); err == nil && !strings.HasPrefix(string(seen), "redis-server") {
		t.Errorf("the process is %q", seen)
	}
	if out, err := ask("another", probe...); err == nil {
		t.Errorf("a probe without the password succeeds: %s", out)
	}
	for name, want := range map[string]string{"maxmemory": "268435456", "maxmemory-policy": "allkeys-lru", "save": "\n\n", "appendonly": "no"} {
		if out, err := ask(token, "redis-cli", "config", "get", name); err != nil || !strings.HasPrefix(strings.TrimPrefix(out, name), "\n"+strings.TrimSpace(want)) {
			t.Errorf("%s: %q %v", name, out, err)
		}
	}

	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Yes."}}]}`)
	}))
	defer upstream.Close()
	args, config, _ := pod(t, c)
	config = strings.Replace(config, "laconic-redis:6379", address, 1)
	for name, f := range map[string]struct {
		change [2]string
		fails  bool
	}{
		"the password":      {},
		"another password":  {change: [2]string{"${LACONIC_STORE_PASSWORD}", "another"}, fails: true},
		"and none is given": {change: [2]string{"password: ${LACONIC_STORE_PASSWORD}", "ttl: 24h"}, fails: true},
	} {
		folder := t.TempDir()
		mount(t, folder, 0, strings.Replace(config, f.change[0], f.change[1], 1))
		_, to, admin := started(t, args, folder, upstream.URL+"/v1")
		body := strings.NewReader(`{"model":"gpt-4o","messages":[{"role":"user","content":"Is it?"}]}`)
		res, err := http.Post(to+"/v1/chat/completions", "application/json", body)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %v %v", name, res, err)
		}
		_ = res.Body.Close()
		_, metrics := get(t, "GET", admin+"/metrics", token)
		asked, failed := sum(metrics, "laconic_store_operations_total"), sum(metrics, "laconic_store_failed_operations_total")
		if asked == 0 || (failed > 0) != f.fails {
			t.Errorf("%s: %v operations, %v failed", name, asked, failed)
		}
	}
}

// sum returns the sum of a metric's series.
func sum(metrics, name string) (all float64) {
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(metrics, -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		all += n
	}
	return all
}
