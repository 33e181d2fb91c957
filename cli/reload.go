package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"laconic/cli/runlog"
	"laconic/cli/watch"
	"laconic/config"
	"laconic/counting"
	"laconic/proxy"

	"go.uber.org/zap"
)

// reloader reads the configuration again while the proxy runs. The proxy is always
// under one configuration whole: a new one that is wrong changes nothing.
type reloader struct {
	p      *proxy.Proxy
	log    *runlog.Log
	file   string // "": the proxy was started without one
	piped  bool   // it was a pipe, which is read once
	over   []config.Override
	tables *loading
	rest   time.Duration    // how long the file has to stand
	hup    <-chan os.Signal // ask for a reload; nil: none do
	// taken and refused are called after each reload: with the options in force, and
	// where nothing was changed.
	taken   func(proxy.Options)
	refused func()

	now     atomic.Pointer[config.Config] // running, for those who do not reload
	mu      sync.Mutex                    // held during a reload; guards what follows
	running *config.Config                // in force
	seen    [sha256.Size]byte             // sum of the file that was read last
	fault   string                        // why it could not be read; "": it could
}

// reloadAnswer is what became of a reload.
type reloadAnswer struct {
	File     string          `json:"file"`
	Changed  []string        `json:"changed"`
	Kept     []config.Kept   `json:"needs_restart"`
	Problems config.Problems `json:"problems"` // none: the file was taken
}

// causeSaved is the cause of a reload that nobody asked for: a file that was seen
// before is passed over.
const causeSaved = "the file was saved"

// reload reads the file when it rests, and takes what can be taken. It returns nil
// where there was nothing to do.
func (r *reloader) reload(ctx context.Context, cause string) *reloadAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &reloadAnswer{File: r.file, Changed: []string{}, Kept: []config.Kept{}, Problems: config.Problems{}}
	if a.File == "" {
		a.fail(errors.New("there is no configuration file: the proxy was started without one"))
		return r.done(a, cause)
	}
	src, err := watch.Read(ctx, r.rest, func() ([]byte, error) { return config.ReadRegular(a.File) })
	if ctx.Err() != nil {
		return nil
	}
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	sum := sha256.Sum256(src)
	if cause == causeSaved && sum == r.seen && fault == r.fault {
		return nil
	}
	r.seen, r.fault = sum, fault
	if err == nil {
		a.fail(r.take(src, a))
	} else if a.fail(err); a.Problems[0].Hint != "" {
		a.Problems[0].Hint = "what was read before stays in force" // a start without a file would have the defaults
	}
	return r.done(a, cause)
}

// take puts what the file says in force.
func (r *reloader) take(src []byte, a *reloadAnswer) error {
	next, err := config.Parse(a.File, src, os.LookupEnv, r.over...)
	if err != nil {
		return err
	}
	n, err := r.running.Reload(next)
	a.Kept = append(a.Kept, n.Kept...)
	if err != nil {
		return err
	}
	o, err := proxyOptions(n.Config, counting.For)
	if err != nil {
		return err
	}
	if err := r.p.Reload(o); err != nil {
		return err
	}
	a.Changed = append(a.Changed, n.Changed...)
	if slices.Contains(a.Changed, "log.level") {
		_ = r.log.SetLevel(n.Config.Log.Level) // the configuration knows no other names
	}
	r.running = n.Config
	r.now.Store(n.Config)
	go r.tables.load(tokenizers(n.Config))
	return nil
}

// inForce returns the configuration in force; first where none is read again.
func (r *reloader) inForce(first *config.Config) *config.Config {
	if r == nil {
		return first
	}
	return r.now.Load()
}

// done tells of a reload.
func (r *reloader) done(a *reloadAnswer, cause string) *reloadAnswer {
	fields := []zap.Field{zap.String("cause", cause), zap.String("config", a.File)}
	if len(a.Kept) > 0 {
		var kept []string
		for _, k := range a.Kept {
			kept = append(kept, k.String())
		}
		fields = append(fields, zap.Strings("needs_restart", kept))
	}
	switch {
	case len(a.Problems) > 0 && r.log.Console:
		r.log.Warn("the new configuration is not used", fields...)
		_, _ = r.log.Write([]byte(a.Problems.Error() + "\n"))
	case len(a.Problems) > 0:
		r.log.Warn("the new configuration is not used", append(fields, zap.Strings("problems", a.Problems.Lines()))...)
	case len(a.Kept) > 0:
		r.log.Warn("the configuration was read again", append(fields, zap.Strings("changed", a.Changed))...)
	default:
		r.log.Info("the configuration was read again", append(fields, zap.Strings("changed", a.Changed))...)
	}
	if len(a.Problems) > 0 {
		r.refused()
	} else {
		r.taken(r.p.Options())
	}
	return a
}

// fail notes why a file is not taken; nil: it is.
func (a *reloadAnswer) fail(err error) {
	var ps config.Problems
	switch {
	case err == nil:
	case errors.As(err, &ps):
		a.Problems = append(a.Problems, ps...)
	default:
		a.Problems = append(a.Problems, config.Problem{File: a.File, Code: "file", Message: err.Error()})
	}
}

// String returns the answer as a person reads it.
func (a *reloadAnswer) String() string {
	var b strings.Builder
	if len(a.Problems) > 0 {
		fmt.Fprintf(&b, "%s\n\n%s; nothing was changed\n", a.Problems.Error(), count(len(a.Problems), "problem"))
	} else {
		changed := "nothing"
		if len(a.Changed) > 0 {
			changed = strings.Join(a.Changed, ", ")
		}
		fmt.Fprintf(&b, "%s was read again\nchanged: %s\n", a.File, changed)
	}
	if len(a.Kept) > 0 {
		b.WriteString("needs a restart:\n")
	}
	for _, k := range a.Kept {
		fmt.Fprintf(&b, "  %s\n", k)
	}
	return b.String()
}

// follow reloads when the file is saved, and at each SIGHUP, until ctx is done.
// hungUp is called where SIGHUP says that the terminal is gone.
func (r *reloader) follow(ctx context.Context, hungUp func()) {
	var all sync.WaitGroup
	if r.file != "" && !r.piped {
		all.Go(func() {
			watch.Changes(ctx, r.file, func() { r.reload(ctx, causeSaved) })
		})
	}
	all.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.hup:
				if r.log.HungUp() {
					hungUp()
					return
				}
				r.reload(ctx, "SIGHUP")
			}
		}
	})
	all.Wait()
}

// pages are the pages by which the admin listener changes what runs.
func (r *reloader) pages() []proxy.AdminPage {
	return []proxy.AdminPage{
		{Path: "/reload", Methods: []string{http.MethodPost}, Handler: http.HandlerFunc(r.servePage)},
		{Path: "/log-level", Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, Handler: http.HandlerFunc(r.serveLevel)},
	}
}

func (r *reloader) servePage(w http.ResponseWriter, req *http.Request) {
	a := r.reload(req.Context(), "POST /reload")
	if a == nil {
		return // the client left
	}
	status := http.StatusOK
	if len(a.Problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	if strings.Contains(req.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(a)
		return
	}
	say(w, status, a.String())
}

// levels are the levels of the log.
var levels = []string{"debug", "info", "warn", "error"}

// levelTimeout is the time to send a level.
const levelTimeout = 5 * time.Second

// serveLevel says what the level of the log is, and changes it until the next start
// or until the file changes it.
func (r *reloader) serveLevel(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodPost {
		level := req.URL.Query().Get("level")
		if level == "" {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(levelTimeout))
			body, _ := io.ReadAll(io.LimitReader(req.Body, 64))
			level = strings.TrimPrefix(strings.TrimSpace(string(body)), "level=")
		}
		if !slices.Contains(levels, level) {
			say(w, http.StatusBadRequest, "The level is one of "+strings.Join(levels, ", ")+".\n")
			return
		}
		_ = r.log.SetLevel(level)
		r.log.Always("the level of the log was set", zap.String("level", level))
	}
	say(w, http.StatusOK, r.log.Level()+"\n")
}

// say answers with plain text.
func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, text)
}
