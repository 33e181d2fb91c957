package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tidwall/gjson"
)

// openLog opens the file for the log, and returns how to call it. Without one nothing is
// lost for the command.
func (r *running) openLog() (f *os.File, name string) {
	name, how := r.log, os.O_APPEND
	dir, err := os.UserCacheDir()
	if name == "" && err == nil {
		name = filepath.Join(dir, "laconic", "run.log")
		err = os.MkdirAll(filepath.Dir(name), 0o700)
		if info, failed := os.Stat(name); failed == nil && info.Mode().IsRegular() && info.Size() > longestLog {
			how = os.O_TRUNC
		}
	}
	if name != "" {
		f, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|how, 0o600)
	}
	if err != nil {
		f, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0) // which every system has
		return f, "no file: " + err.Error()
	}
	return f, name
}

// ownFiles are files that live as long as the command.
type ownFiles struct{ dir string }

func (f *ownFiles) write(name, text string) (path string, err error) {
	if f.dir == "" {
		removeLeft()
		if f.dir, err = os.MkdirTemp("", fmt.Sprintf("%s%d-", ownFolder, os.Getpid())); err != nil {
			return "", err
		}
	}
	path = filepath.Join(f.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// ownFolder begins the name of a folder of ownFiles. The id of the process follows.
const ownFolder = "laconic-run-"

// removeLeft removes the folders of processes that were killed.
func removeLeft() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), ownFolder+"*-*"))
	for _, dir := range left {
		var id int
		if n, _ := fmt.Sscanf(filepath.Base(dir), ownFolder+"%d-", &id); n == 0 {
			continue
		}
		p, err := os.FindProcess(id)
		if err == nil {
			err = p.Signal(syscall.Signal(0))
		}
		if errors.Is(err, os.ErrProcessDone) {
			_ = os.RemoveAll(dir)
		}
	}
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
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r) // this machine needs no proxy
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	page, _ := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	for _, id := range gjson.GetBytes(page, "data.#.id").Array() {
		models = append(models, id.String())
	}
	return models
}
