package cli

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"laconic/cli/runlog"
	"laconic/config"
	"laconic/e2e/rig"
	"laconic/proxy"
	"laconic/proxy/operate"
)

// reloading is a proxy on a real port whose configuration is read again.
type reloading struct {
	t            *testing.T
	file         string
	admin        string // http://host:port
	log          *lockedText
	ok, notTaken atomic.Int64
	*reloader
}

// reloadable starts a proxy with a configuration. A file rests at once.
func reloadable(t *testing.T, src string) *reloading {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		rig.Client.CloseIdleConnections()
		goleak.VerifyNone(t, ignore)
	})
	r := &reloading{t: t, file: filepath.Join(t.TempDir(), "laconic.yaml"), log: &lockedText{}}
	r.write(src)
	c := must(config.Load(r.file))
	log := runlog.New(c.Log.Level, "json", r.log)
	t.Cleanup(log.Close)
	p, _ := proxyFor(t, c)
	r.reloader = &reloader{
		p: p, log: log, file: r.file, reloaded: func(taken bool) {
			if taken {
				r.ok.Add(1)
			} else {
				r.notTaken.Add(1)
			}
		},
	}
	r.running.Store(c)
	_, r.admin = served(t, p, operate.Page{Path: "/reload", Methods: []string{http.MethodPost}, Handler: r.reloader})
	return r
}

// served runs a proxy, and an admin listener with a page, until the test ends.
func served(t *testing.T, p *proxy.Proxy, page operate.Page) (url, admin string) {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	admin, stopAdmin := serveAdmin(p, operate.Options{Listen: "127.0.0.1:0", Pages: []operate.Page{page}}, zap.NewNop())
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = p.Serve(ctx, l) })
	t.Cleanup(func() { cancel(); stopAdmin(); ended.Wait(); rig.Client.CloseIdleConnections() })
	return "http://" + l.Addr().String(), "http://" + admin
}

func (r *reloading) write(src string) {
	r.t.Helper()
	writeFile(r.t, r.file, src)
}

// logged waits until the log has texts.
func (r *reloading) logged(texts ...string) {
	r.t.Helper()
	for _, want := range texts {
		rig.Eventually(r.t, want+" in the log", func() bool { return strings.Contains(r.log.String(), want) })
	}
}

func TestTheAnswerToAReload(t *testing.T) {
	r := reloadable(t, "upstream: http://127.0.0.1:9/v1\n")
	f := func(src string, status int, want string) {
		t.Helper()
		if src == "(removed)" {
			_ = os.Remove(r.file)
		} else {
			r.write(src)
		}
		got, _, answer := rig.Post(t, r.admin+"/reload", nil)
		if text := strings.ReplaceAll(string(answer), r.file, "FILE"); got != status || text != want {
			t.Errorf("%s\n%d\n%swant %d\n%s", src, got, text, status, want)
		}
	}
	f("upstream: http://127.0.0.1:9/v1\n", 200, "FILE was read again\nchanged: nothing\n")
	f("upstream: http://127.0.0.1:9/v1\nstrict: true\nlisten: 127.0.0.1:1\nstore: {kind: file}\noverrides: true\n", 200,
		"FILE was read again\nchanged: strict\nneeds a restart:\n  listen\n  overrides\n  store\n")
	f("strict: true\nadmin_token: 0123456789abcdef\n", 200,
		"FILE was read again\nchanged: admin_token\nneeds a restart:\n  upstream (the file does not name it any more)\n")
	if status, _, _ := rig.Post(t, r.admin+"/reload", nil); status != 401 {
		t.Errorf("without the new token: %d", status)
	}
	// The wrong file says all that is wrong, and changes nothing.
	r.running.Load().AdminToken = "" // as no reload would
	o := proxyOptions(r.running.Load())
	if err := r.p.Reload(o); err != nil {
		t.Fatal(err)
	}
	f("strickt: false\nupstream: ftp://a\nmodels: [{match: \"*\", window: -1}]\n", 422, `FILE:1:1: unknown key "strickt" (did you mean strict?)
FILE:2:11: upstream must be a URL that begins with http:// or https:// (such as https://api.openai.com/v1)
FILE:3:31: models[0].window must be at least 1

3 problems; nothing was changed
`)
	f("(removed)", 422, "FILE: there is no such file (what was read before stays in force)\n\n1 problem; nothing was changed\n")
	f("# nothing but this\n", 422, "FILE: the file has no settings (without them every setting would have its default; for that, restart the proxy)\n\n1 problem; nothing was changed\n")
	if !r.p.Options().Strict || r.ok.Load() != 3 || r.notTaken.Load() != 3 {
		t.Errorf("strict %v, %d taken, %d not", r.p.Options().Strict, r.ok.Load(), r.notTaken.Load())
	}
	r.write("strict: false\nlog: {format: json}\n")
	r.reload("POST /reload")
	r.logged(
		`"msg":"the new configuration is not used","cause":"POST /reload"`, `laconic.yaml:2:11: upstream must be a URL that begins`, `"changed":["strict"]`,
		`"needs_restart":["listen","overrides","store"]`, `there is no such file`)
}
