package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

func TestAFileSurvivesARestart(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	f := openTestFile(t, path, 0)
	mustPut(t, f, keyOf(1), []byte("text"), time.Hour)
	f.Close()
	f.Close() // twice does no harm
	if _, err := f.Get(ctx, keyOf(1)); !errors.Is(err, ErrAbsent) {
		t.Errorf("a closed file gives %v", err)
	}
	if err := f.Put(ctx, keyOf(1), nil, time.Hour); !errors.Is(err, ErrAbsent) {
		t.Errorf("a closed file takes: %v", err)
	}
	if got, err := openTestFile(t, path, 0).Get(ctx, keyOf(1)); string(got) != "text" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
}

// TestADamagedFileIsMovedAside, whatever the damage: what is found at the
// start, and what is found while it is read.
func TestADamagedFileIsMovedAside(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := func(name string, hurt func(t *testing.T, path string, size int64)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			old := openTestFile(t, path, 0)
			for i := range 200 {
				mustPut(t, old, keyOf(i), make([]byte, 2000), time.Hour)
			}
			old.Close()
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			hurt(t, path, info.Size())
			s := openTestFile(t, path, 0)
			for i := range 200 {
				_, _ = s.Get(ctx, keyOf(i))
			}
			for i := range 3 { // one write may be what finds the damage
				err = s.Put(ctx, keyOf(1000+i), []byte("new"), time.Hour)
			}
			if got, _ := s.Get(ctx, keyOf(1002)); err != nil || string(got) != "new" {
				t.Fatalf("the new file is of no use: %q, %v", got, err)
			}
			if _, err := os.Stat(path + ".damaged"); err != nil {
				t.Errorf("the damaged file is gone: %v", err)
			}
		})
	}
	f("no store at all", func(t *testing.T, path string, _ int64) {
		fileOf(t, path, []byte(strings.Repeat("this is not a store. ", 1000)))
	})
	f("only zeros", func(t *testing.T, path string, size int64) { fileOf(t, path, make([]byte, size)) })
	for _, size := range []int64{1, 100, 4096, 5000, 8191, 8192, 12_288, 524_288} { // of a megabyte
		f(fmt.Sprintf("cut to %d bytes", size), func(t *testing.T, path string, _ int64) {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		})
	}
	f("noise behind the first pages", func(t *testing.T, path string, size int64) {
		noise := make([]byte, size-4*4096)
		rand.New(rand.NewSource(1)).Read(noise)
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteAt(noise, 2*4096); err != nil {
			t.Fatal(err)
		}
	})
}

func fileOf(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAFileCutShortWhileItIsOpen: the pages behind its end make the processor
// fault, which would end the process.
func TestAFileCutShortWhileItIsOpen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	s := openTestFile(t, path, 0)
	for i := range 200 {
		mustPut(t, s, keyOf(i), make([]byte, 2000), time.Hour)
	}
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				_, _ = s.Get(ctx, keyOf(i))
				_ = s.Put(ctx, keyOf(i), []byte("new"), time.Hour)
			}
		})
	}
	wg.Wait()
	if got, err := s.Get(ctx, keyOf(7)); string(got) != "new" {
		t.Errorf("the new file gives %q, %v", got, err)
	}
}

// TestAFileStaysWithinItsBound: the oldest leave.
func TestAFileStaysWithinItsBound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	const bound = 1 << 20
	s := openTestFile(t, path, bound)
	for i := range 400 {
		mustPut(t, s, keyOf(i), make([]byte, 20_000), time.Hour)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2*bound {
		t.Errorf("a file that may hold %d bytes takes %d", bound, info.Size())
	}
	if _, err := s.Get(ctx, keyOf(399)); err != nil {
		t.Errorf("the newest: %v", err)
	}
	if _, err := s.Get(ctx, keyOf(0)); !errors.Is(err, ErrMiss) {
		t.Errorf("the oldest: %v", err)
	}
	s.Close()
	again := openTestFile(t, path, bound)
	if held := heldBy(again); held > bound || held < bound/2 {
		t.Errorf("after a restart it holds %d bytes", held)
	}
}

// heldBy returns the bytes that a file holds, as its bound counts them.
func heldBy(f *File) (n int64) {
	_ = f.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(byKey).ForEach(func(_, r []byte) error {
			n += costOf(r)
			return nil
		})
	})
	return n
}

// TestASecondProcessRunsOnMemory, with one line that says so.
func TestASecondProcessRunsOnMemory(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("STORE_TEST_SECOND"); path != "" {
		secondProcess(path)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	openTestFile(t, path, 0)
	cmd := exec.Command(os.Args[0], "-test.run=^TestASecondProcessRunsOnMemory$")
	cmd.Env = append(os.Environ(), "STORE_TEST_SECOND="+path)
	out, err := cmd.CombinedOutput()
	want := "the store's file " + path + " cannot be used (another process has the file: " + path + "): everything is kept in memory, until this process ends\nworks\n"
	if err != nil || string(out) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out, want)
	}
}

func secondProcess(path string) {
	v, err := Open(Options{Kind: InFile, Path: path, Notice: func(line string) { fmt.Println(line) }})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx := context.Background()
	if v.Put(ctx, v.Key(Group{1}, "record", "k"), "text") == nil {
		if got, _ := v.Get(ctx, v.Key(Group{1}, "record", "k")); got == "text" {
			fmt.Println("works")
		}
	}
	os.Exit(0)
}

// TestAFileThatCannotBeMade: a directory that is read only, or none at all.
func TestAFileThatCannotBeMade(t *testing.T) {
	// In /sys not even root may make a file; in a file nobody can.
	file := filepath.Join(t.TempDir(), "file")
	fileOf(t, file, nil)
	for _, path := range []string{"/sys/laconic.db", filepath.Join(file, "x.db"), filepath.Join(t.TempDir(), "none", "x.db"), t.TempDir()} {
		for _, secret := range [][]byte{nil, testSecret} {
			var lines []string
			v, err := Open(Options{Kind: InFile, Path: path, Secret: secret, Notice: func(s string) { lines = append(lines, s) }})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if len(lines) != 1 || !strings.Contains(lines[0], "kept in memory") {
				t.Errorf("%s: told %q", path, lines)
			}
			if err := v.Put(context.Background(), v.Key(Group{1}, "record", "k"), "text"); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			v.Close()
		}
	}
}

// TestRoomOfWhatWasErasedIsFree: none of it counts.
func TestRoomOfWhatWasErasedIsFree(t *testing.T) {
	ctx := context.Background()
	f := openTestFile(t, filepath.Join(t.TempDir(), "x.db"), 0)
	mustPut(t, f, Key{1}, make([]byte, 1000), time.Hour)
	before := heldBy(f)
	for n := range 10 {
		mustPut(t, f, Key{2, 31: byte(n)}, make([]byte, 1000), time.Hour)
	}
	if n, err := f.DeleteGroup(ctx, Group{2}); n != 10 || err != nil || heldBy(f) != before {
		t.Errorf("%d were removed, %v; it holds %d bytes, want %d", n, err, heldBy(f), before)
	}
}
