package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"
)

// openLog opens the file for the log, and returns how to call it. Nothing is lost
// for the command if there can be none.
func (r *running) openLog() (w io.WriteCloser, name string) {
	name = r.log
	if name == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return discarded{}, "no file: " + err.Error()
		}
		dir = filepath.Join(dir, "laconic")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return discarded{}, "no file: " + err.Error()
		}
		name = filepath.Join(dir, "run.log")
	}
	how := os.O_APPEND
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > longestLog && r.log == "" {
		how = os.O_TRUNC
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|how, 0o600)
	if err != nil {
		return discarded{}, "no file: " + err.Error()
	}
	return f, name
}

// discarded is a log that nobody keeps.
type discarded struct{}

func (discarded) Write(b []byte) (int, error) { return len(b), nil }
func (discarded) Close() error                { return nil }

// ownFiles are files that live as long as the command.
type ownFiles struct{ dir string }

func (f *ownFiles) write(name, text string) (path string, err error) {
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "laconic-run-"); err != nil {
			return "", err
		}
	}
	path = filepath.Join(f.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func (f *ownFiles) remove() {
	if f.dir != "" {
		_ = os.RemoveAll(f.dir)
	}
}

// listed asks for the list of models as the command would.
func listed(ctx context.Context, base, key string) (models []string) {
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	t := &http.Transport{} // this machine needs no proxy
	defer t.CloseIdleConnections()
	res, err := t.RoundTrip(r)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil || res.StatusCode != http.StatusOK || !gjson.ValidBytes(page) {
		return nil
	}
	for _, id := range gjson.GetBytes(page, "data.#.id").Array() {
		if id.Type == gjson.String && id.String() != "" {
			models = append(models, id.String())
		}
	}
	return models
}

// versionOf returns what a program prints as its version.
func versionOf(ctx context.Context, path string) string {
	ctx, stop := context.WithTimeout(ctx, versionTime)
	defer stop()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, _ := cmd.Output()
	return string(out)
}
