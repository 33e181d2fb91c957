package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"laconic/cli/runlog"
	"laconic/config"
	"laconic/number"
	"laconic/proxy"

	"go.uber.org/zap"
)

// reloader reads the configuration again while the proxy runs. The proxy is always
// under one configuration whole: a new one that is wrong changes nothing.
type reloader struct {
	p      *proxy.Proxy
	log    *runlog.Log
	file   string // "": the proxy was started without one
	over   []config.Override
	tables *loading
	hup    <-chan os.Signal // ask for a reload; nil: none do
	// certificate is followed, too; nil: the listener has none.
	certificate *certificate
	// told is called after each reload, with whether the file was taken.
	told func(taken bool)

	running atomic.Pointer[config.Config] // in force
	mu      sync.Mutex                    // held during a reload; guards what follows
	seen    [sha256.Size]byte             // sum of the file, or of the error, that was read last
}

// reloadAnswer is the outcome of a reload.
type reloadAnswer struct {
	File     string
	Changed  []string
	Kept     []config.Kept
	Problems config.Problems // none: the file was taken
}

// reload reads the file, and takes what can be taken.
func (r *reloader) reload(cause string) *reloadAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &reloadAnswer{File: r.file}
	src, sum, err := r.read()
	r.seen = sum
	if err == nil {
		err = r.take(src, a)
	}
	if err != nil {
		a.Problems = config.ProblemsOf(a.File, err)
	}
	logReload(r.log, a, cause)
	r.told(len(a.Problems) == 0)
	return a
}

// read returns the file, and what tells it from another one.
func (r *reloader) read() (src []byte, sum [sha256.Size]byte, err error) {
	if r.file == "" {
		return nil, sum, errors.New("there is no configuration file: the proxy was started without one")
	}
	if src, err = config.ReadRegular(r.file); err != nil {
		return nil, sha256.Sum256([]byte(err.Error())), err
	}
	return src, sha256.Sum256(src), nil
}

// take puts what the file says in force.
func (r *reloader) take(src []byte, a *reloadAnswer) error {
	next, err := config.Parse(a.File, src, os.LookupEnv, r.over...)
	if err != nil {
		return err
	}
	n, err := r.running.Load().Reload(next)
	a.Kept = append(a.Kept, n.Kept...)
	if err != nil {
		return err
	}
	if err := r.p.Reload(proxyOptions(n.Config)); err != nil {
		return err
	}
	a.Changed = append(a.Changed, n.Changed...)
	if slices.Contains(a.Changed, "log.level") {
		_ = r.log.SetLevel(n.Config.Log.Level) // the configuration knows no other names
	}
	r.running.Store(n.Config)
	go r.tables.load(tokenizers(n.Config))
	return nil
}

// logReload tells of a reload.
func logReload(log *runlog.Log, a *reloadAnswer, cause string) {
	fields := []zap.Field{zap.String("cause", cause), zap.String("config", a.File)}
	say := log.Info
	if len(a.Kept) > 0 {
		say = log.Warn
		var kept []string
		for _, k := range a.Kept {
			kept = append(kept, k.String())
		}
		fields = append(fields, zap.Strings("needs_restart", kept))
	}
	switch {
	case len(a.Problems) == 0:
		say("the configuration was read again", append(fields, zap.Strings("changed", a.Changed))...)
	case log.Console:
		log.Warn("the new configuration is not used", fields...)
		_, _ = log.Write([]byte(a.Problems.Error() + "\n"))
	default:
		log.Warn("the new configuration is not used", append(fields, zap.Strings("problems", a.Problems.Lines()))...)
	}
}

// String returns the answer as a person reads it.
func (a *reloadAnswer) String() string {
	var b strings.Builder
	if len(a.Problems) > 0 {
		fmt.Fprintf(&b, "%s\n\n%s; nothing was changed\n", a.Problems.Error(), number.Count(len(a.Problems), "problem"))
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

// lookEvery is how often the file is looked at: what a system tells of changes does not
// follow links out of a folder, nor all file systems.
const lookEvery = time.Second

// follow reloads when the file is saved and at each SIGHUP, until ctx is done. A saved
// file is read when two looks have seen the same, so not while it is written. hungUp is
// called where SIGHUP says that the terminal is gone.
func (r *reloader) follow(ctx context.Context, hungUp func()) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	_, last, err := r.read()
	if err != nil { // such as a pipe, which only the start reads
		r.mu.Lock()
		r.seen = last
		r.mu.Unlock()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if r.certificate != nil {
				r.certificate.look()
			}
			_, now, _ := r.read()
			r.mu.Lock()
			saved := now == last && now != r.seen
			r.mu.Unlock()
			if last = now; saved {
				r.reload("the file was saved")
			}
		case <-r.hup:
			if r.log.HungUp() {
				hungUp()
				return
			}
			r.reload("SIGHUP")
		}
	}
}

// ServeHTTP reloads, and says what came of it.
func (r *reloader) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	a := r.reload("POST /reload")
	status := http.StatusOK
	if len(a.Problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	say(w, status, a.String())
}

// say answers with plain text.
func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, text)
}
