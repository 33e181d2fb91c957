package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"laconic/config"
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

// listed returns the models that the upstream of most requests lists.
func listed(ctx context.Context, c *config.Config) []string {
	route := proxyOptions(c).Default
	return look(ctx, route.Upstream, cmp.Or(string(route.Key), clientKey()), listTime).Models
}
