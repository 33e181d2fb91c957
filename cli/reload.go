package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"laconic/cli/runlog"
	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/operate"
)

// reloader reads the configuration again while the proxy runs. The proxy is always
// under one configuration whole: a new one that is wrong changes nothing.
type reloader struct {
	p    *proxy.Proxy
	log  *runlog.Log
	file string // "": the proxy was started without one
	over []config.Override
	hup  <-chan os.Signal // ask for a reload; nil: none do
	// certificate is followed, too; nil: the listener has none.
	certificate *certificate
	// reloaded is called after each reload, with whether the file was taken.
	reloaded func(taken bool)

	running atomic.Pointer[config.Config] // in force
	mu      sync.Mutex                    // held during a reload; guards what follows
	seen    [sha256.Size]byte             // sum of the file, or of the error, that was read last
}

// reload reads the file, and takes what can be taken. It returns what came of it in
// words, and reports whether the file was taken.
func (r *reloader) reload(cause string) (says string, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	src, sum, err := r.read()
	r.seen = sum
	var n config.Reload
	if err == nil {
		n, err = r.take(src)
	}
	ps := config.ProblemsOf(r.file, err)
	fields := []zap.Field{zap.String("cause", cause), zap.String("config", r.file)}
	log, kept := r.log.Info, ""
	if len(n.Kept) > 0 {
		log, kept = r.log.Warn, "needs a restart:\n  "+strings.Join(n.Kept, "\n  ")+"\n"
		fields = append(fields, zap.Strings("needs_restart", n.Kept))
	}
	if len(ps) > 0 {
		if !r.log.Console {
			fields = append(fields, zap.Strings("problems", ps.Lines()))
		}
		r.log.Warn("the new configuration is not used", fields...)
		if r.log.Console {
			_, _ = r.log.Write([]byte(ps.Error() + "\n"))
		}
		says = fmt.Sprintf("%s\n\n%s; nothing was changed\n", ps.Error(), number.Count(len(ps), "problem"))
	} else {
		log("the configuration was read again", append(fields, zap.Strings("changed", n.Changed))...)
		says = fmt.Sprintf("%s was read again\nchanged: %s\n", r.file, cmp.Or(strings.Join(n.Changed, ", "), "nothing"))
	}
	r.reloaded(len(ps) == 0)
	return says + kept, len(ps) == 0
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
func (r *reloader) take(src []byte) (n config.Reload, err error) {
	next, err := config.Parse(r.file, src, os.LookupEnv, r.over...)
	if err == nil {
		n, err = r.running.Load().Reload(next)
	}
	if err == nil {
		err = r.p.Reload(proxyOptions(next))
	}
	if err != nil {
		return n, err
	}
	r.log.SetLevel(next.Log.Level)
	r.running.Store(next)
	return n, nil
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
	says, taken := r.reload("POST /reload")
	status := http.StatusOK
	if !taken {
		status = http.StatusUnprocessableEntity
	}
	operate.Say(w, status, says)
}

// certificate is the certificate of the listener. If its files are replaced by writing,
// renaming or another link, the next connections have the new one. A pair that is
// broken or does not match, as while one of two files is written, leaves the old one in
// use.
type certificate struct {
	files config.TLS
	log   *zap.Logger
	pair  atomic.Pointer[tls.Certificate]
	seen  [sha256.Size]byte // sum of the files that were tried last
	fault string            // why they cannot be used; "": they can
}

// look reads the files, and takes what they hold if that can be used. One goroutine at a
// time calls it.
func (c *certificate) look() {
	pair, sum, _, err := c.files.Load()
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if sum == c.seen && fault == c.fault {
		return
	}
	again := c.pair.Load() != nil
	c.seen, c.fault = sum, fault
	switch {
	case err != nil && again:
		c.log.Warn("the new certificate is not used", zap.String("error", fault))
	case err == nil:
		c.pair.Store(pair)
		until := zap.Time("not_after", pair.Leaf.NotAfter)
		if time.Now().After(pair.Leaf.NotAfter) {
			c.log.Warn("the certificate has expired", until)
		} else if again {
			c.log.Info("the certificate was read again", until)
		}
	}
}
