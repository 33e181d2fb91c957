package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	lookEvery = 5 * time.Millisecond
	goleak.VerifyTestMain(m)
}

// What a file holds is read when it has stood for Rest.
func TestReadWaitsUntilTheFileRests(t *testing.T) {
	f := func(want string, after time.Duration, held func(since time.Duration) (string, error)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got, err := Read(t.Context(), Rest, func() ([]byte, error) {
				text, err := held(time.Since(began))
				return []byte(text), err
			})
			if err != nil {
				got = []byte(err.Error())
			}
			if took := time.Since(began); string(got) != want || took != after {
				t.Errorf("%q after %v, want %q after %v", got, took, want, after)
			}
		})
	}
	f("whole", Rest, func(time.Duration) (string, error) { return "whole", nil })
	f("whole", 2*Rest, func(since time.Duration) (string, error) {
		if since < Rest {
			return "", nil // truncated
		}
		return "whole", nil
	})
	f("whole", 2*Rest, func(since time.Duration) (string, error) {
		if since < Rest {
			return "", os.ErrNotExist
		}
		return "whole", nil
	})
	f("file does not exist", Rest, func(time.Duration) (string, error) { return "", os.ErrNotExist })
	f(ErrUnrest.Error(), mostUnrest, func(since time.Duration) (string, error) { return since.String(), nil })
}

// A read that hangs, as on a file system that is gone, is not waited for.
func TestReadWaitsForNoReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		defer close(gone)
		began := time.Now()
		_, err := Read(t.Context(), Rest, func() ([]byte, error) { <-gone; return nil, nil })
		if took := time.Since(began); !errors.Is(err, ErrUnrest) || took != mostUnrest {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Rest, func() ([]byte, error) { return nil, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// followed is a file that is followed.
type followed struct {
	t    *testing.T
	dir  string
	seen atomic.Int64
}

func follow(t *testing.T, dir, name string) *followed {
	t.Helper()
	f := &followed{t: t, dir: dir}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		Changes(ctx, filepath.Join(dir, name), func() { f.seen.Add(1) })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	f.after("the start", 0)
	return f
}

// after waits until a change is seen that came after n.
func (f *followed) after(what string, n int64) {
	f.t.Helper()
	for end := time.Now().Add(20 * time.Second); f.seen.Load() <= n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("not seen: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestChangesAreSeenHoweverTheyAreMade(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(path, text string) { t.Helper(); must(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(at("c.yaml"), "1")
	f := follow(t, dir, "c.yaml")
	step := func(what string, do func()) {
		t.Helper()
		n := f.seen.Load()
		do()
		f.after(what, n)
	}
	step("written in place", func() { write(at("c.yaml"), "22") })
	step("renamed over", func() { write(at(".c.yaml.swp"), "333"); must(t, os.Rename(at(".c.yaml.swp"), at("c.yaml"))) })
	step("written after that", func() { write(at("c.yaml"), "4444") })
	step("removed", func() { must(t, os.Remove(at("c.yaml"))) })
	step("there again", func() { write(at("c.yaml"), "55555") })
}

func TestALinkOutOfTheFolderIsFollowed(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "c")
	must(t, os.WriteFile(elsewhere, []byte("1"), 0o600))
	must(t, os.Symlink(elsewhere, filepath.Join(dir, "c.yaml")))
	f := follow(t, dir, "c.yaml")
	must(t, os.WriteFile(elsewhere, []byte("22"), 0o600))
	f.after("written where the link leads", 1)
}

// As Kubernetes mounts a ConfigMap: the name leads through a link of the folder that
// is swapped.
func TestASwapOfLinksIsSeen(t *testing.T) {
	dir := t.TempDir()
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	swap := func(version string) {
		must(t, os.Mkdir(at(version), 0o700))
		must(t, os.WriteFile(at(version, "c.yaml"), []byte("the same size"), 0o600))
		must(t, os.Symlink(version, at("..data_tmp")))
		must(t, os.Rename(at("..data_tmp"), at("..data")))
	}
	swap("..1")
	must(t, os.Symlink(filepath.Join("..data", "c.yaml"), at("c.yaml")))
	f := follow(t, dir, "c.yaml")
	for _, version := range []string{"..2", "..3"} {
		n := f.seen.Load()
		swap(version)
		f.after(version, n)
	}
}

// Who writes beside the file is nothing to it.
func TestOtherFilesAreNoChange(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "c.yaml"), []byte("1"), 0o600))
	f := follow(t, dir, "c.yaml")
	for range 20 {
		must(t, os.WriteFile(filepath.Join(dir, "log"), []byte("line"), 0o600))
	}
	must(t, os.Remove(filepath.Join(dir, "log")))
	must(t, os.WriteFile(filepath.Join(dir, "c.yaml"), []byte("22"), 0o600))
	f.after("the file itself", 1)
	if n := f.seen.Load(); n > 3 { // truncated, and written
		t.Errorf("%d changes were seen", n)
	}
}

// TestAStampShowsEveryChange: a file is another one if its size, its time or its
// place on the disk is another, whichever of them.
func TestAStampShowsEveryChange(t *testing.T) {
	dir := t.TempDir()
	path, at := filepath.Join(dir, "file"), time.Unix(1_000_000_000, 0)
	write := func(text string, at time.Time) stamp {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return stampOf(path)
	}
	was := write("one", at)
	if !write("one", at).same(was) {
		t.Error("the same file is another one")
	}
	if write("one, two", at).same(was) {
		t.Error("its size is not seen")
	}
	if write("two", at.Add(time.Second)).same(was) {
		t.Error("its time is not seen")
	}
	if err := os.Rename(path, path+"~"); err != nil {
		t.Fatal(err)
	}
	if stampOf(path).same(was) || write("one", at).same(was) {
		t.Error("another file of its name is not seen")
	}
}
