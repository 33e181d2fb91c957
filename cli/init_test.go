package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"laconic/config"
	"laconic/proxy/discover"
)

// serving returns the port of a server that has some pages.
func serving(t *testing.T, pages map[string]string) int {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

// initialized runs laconic init in an empty folder where some programs are on their
// ports.
func initialized(t *testing.T, programs []discover.Program, args ...string) (code int, text, out, said string) {
	t.Helper()
	old := discover.Programs
	discover.Programs = programs
	defer func() { discover.Programs = old }()
	t.Chdir(t.TempDir())
	code, out, said = run(t, append([]string{"init"}, args...)...)
	b, _ := os.ReadFile(config.FileName)
	return code, string(b), out, said
}

func TestInitFindsTheServersOfThisMachine(t *testing.T) {
	ollama := serving(t, map[string]string{
		"/v1/models": `{"data":[{"id":"qwen3:8b"},{"id":"idle:1b"},{"id":"bad\nname"},{"id":"back\\slash"},{"id":"${HOME}"},{"id":"*"}]}`,
		"/api/ps":    `{"models":[{"name":"qwen3:8b","context_length":32768}]}`,
	})
	vllm := serving(t, map[string]string{"/v1/models": `{"data":[{"id":"org/big","owned_by":"vllm","max_model_len":9000},{"id":"qwen3:8b","owned_by":"vllm","max_model_len":1000}]}`})
	code, text, out, said := initialized(t, []discover.Program{{Name: "nobody", Port: 1}, {Name: "Ollama", Port: ollama}, {Name: "vLLM", Port: vllm}})
	if code != 0 || !strings.Contains(out, "Ollama, 6 models, 1 window") || said != "" {
		t.Fatalf("%d %s%s", code, out, said)
	}
	c, err := config.Load(config.FileName)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var rows []string
	for _, m := range c.Models {
		rows = append(rows, m.Match+" "+strconv.Itoa(int(m.Window)))
	}
	if got := strings.Join(rows, ", "); got != "qwen3:8b 32768, idle:1b 0, org/big 9000, * 0" {
		t.Errorf("rows: %s\n%s", got, text)
	}
	if want := "http://127.0.0.1:" + strconv.Itoa(vllm) + "/v1"; c.Models[2].Upstream != want || c.Models[0].Upstream != "" {
		t.Errorf("upstreams: %q, want %q", c.Models[2].Upstream, want)
	}
	if err := c.CheckFiles(); err != nil {
		t.Errorf("laconic check: %v", err)
	}
}

func TestInitOverwritesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, config.FileName, "mine")
	port := strconv.Itoa(serving(t, map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`}))
	again := func(args ...string) (code int, text, said string) {
		code, _, said = run(t, append([]string{"init", "--upstream", "http://127.0.0.1:" + port}, args...)...)
		return code, string(must(os.ReadFile(config.FileName))), said
	}
	if code, text, said := again(); code == 0 || text != "mine" || !strings.Contains(said, "is there already (--force") {
		t.Errorf("%d %s: %s", code, text, said)
	}
	// The base URL is completed where the list is below /v1.
	if code, text, said := again("--force"); code != 0 || !strings.Contains(text, `upstream: "http://127.0.0.1:`+port+`/v1"`) {
		t.Errorf("%d %s: %s", code, text, said)
	}
}

func TestInitAsksNobodyWithoutATerminal(t *testing.T) {
	code, text, _, said := initialized(t, []discover.Program{{Name: "nobody", Port: 1}})
	if code != 1 || text != "" || said != "laconic: no server answers on the usual ports of this machine (nobody 1): name one by --upstream URL\n" {
		t.Errorf("%d %q %q", code, text, said)
	}
	// An upstream that does not answer is written down all the same, and one that is
	// known to publish nothing is not asked.
	code, text, _, said = initialized(t, nil, "--upstream", "http://127.0.0.1:1/v1")
	if code != 0 || !strings.Contains(text, `upstream: "http://127.0.0.1:1/v1"`) || !strings.Contains(said, "does not answer now") {
		t.Errorf("%d %q %q", code, text, said)
	}
	code, text, _, said = initialized(t, nil, "--upstream", "https://api.openai.com/v1")
	if code != 0 || !strings.Contains(text, `upstream: "https://api.openai.com/v1"`) || said != "" {
		t.Errorf("%d %q %q", code, text, said)
	}
	if code, _, _, said := initialized(t, nil, "--upstream", "nonsense"); code != 1 || said == "" {
		t.Errorf("%d %q", code, said)
	}
}

// The key of the environment is tried where an upstream that was named wants one, and
// below /v1 too where it has nothing above.
func TestInitTriesTheKeyOfTheEnvironment(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/models":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("Authorization") != "Bearer sk-canary":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, `{"data":[{"id":"one"},{"id":"two"}]}`)
		}
	}))
	defer srv.Close()
	f := func(key, want string) {
		t.Helper()
		t.Setenv("OPENAI_API_KEY", key)
		for _, named := range []string{srv.URL + "/v1", srv.URL} {
			code, text, out, said := initialized(t, nil, "--upstream", named)
			if code != 0 || !strings.Contains(out, want) || !strings.Contains(text, `upstream: "`+srv.URL+`/v1"`) || strings.Contains(text+out+said, "canary") {
				t.Errorf("%s: %d %s%s\n%s", named, code, out, said, text)
			}
		}
	}
	f("", "an upstream that wants a key")
	f("sk-wrong", "an upstream that wants a key")
	f("sk-canary", "2 models")
	if _, _, _, said := initialized(t, nil, "--upstream", "https"+strings.TrimPrefix(srv.URL, "http")+"/v1"); !strings.Contains(said, "it speaks http, not https") {
		t.Error(said)
	}
}
