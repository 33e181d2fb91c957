package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestASecretIsMadeBesideItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var wg sync.WaitGroup
	secrets := make([][]byte, 16)
	for i := range secrets {
		wg.Go(func() {
			var err error
			if secrets[i], err = secretBeside(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range secrets {
		if !bytes.Equal(s, secrets[0]) || len(s) != 64 {
			t.Fatalf("%q and %q", s, secrets[0])
		}
	}
	info, err := os.Stat(path + ".secret")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 1 {
		t.Errorf("beside it: %v, %v", left, err)
	}
}

// TestASecretThatOthersCanReadIsRefused: the store is then in memory.
func TestASecretThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path+".secret", bytes.Repeat([]byte("s"), 32), 0o644); err != nil {
		t.Fatal(err)
	}
	var lines []string
	v, err := Open(Options{Kind: InFile, Path: path, Notice: func(s string) { lines = append(lines, s) }})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if len(lines) != 1 || !strings.Contains(lines[0], "chmod 600") {
		t.Errorf("told %q", lines)
	}
}

// TestAFileOpensOnlyWithItsSecret.
func TestAFileOpensOnlyWithItsSecret(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	use := func(f func(*Vault)) {
		t.Helper()
		v, err := Open(Options{Kind: InFile, Path: path, Notice: func(s string) { t.Error(s) }})
		if err != nil {
			t.Fatal(err)
		}
		f(v)
		v.Close()
	}
	use(func(v *Vault) {
		mustPutText(t, v, v.Key(Group{1}, "record", "k"), "text")
	})
	use(func(v *Vault) {
		if got, ok := v.Get(ctx, v.Key(Group{1}, "record", "k")); got != "text" {
			t.Errorf("with its secret: %q %v", got, ok)
		}
	})
	if err := os.Remove(path + ".secret"); err != nil {
		t.Fatal(err)
	}
	use(func(v *Vault) {
		if got, ok := v.Get(ctx, v.Key(Group{1}, "record", "k")); ok {
			t.Errorf("with another: %q", got)
		}
	})
}

func TestOptionsThatCanNeverWork(t *testing.T) {
	for _, o := range []Options{
		{Kind: InRedis, URL: "redis://127.0.0.1:1/0"},
		{Kind: InRedis, URL: "https://canary@x/0", Secret: testSecret},
		{Kind: InRedis, URL: "redis://127.0.0.1:1/0", Secret: []byte("short")},
		{Secret: []byte("short")},
	} {
		v, err := Open(o)
		if err == nil {
			v.Close()
			t.Errorf("%+v was taken", o)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%v shows what it should not", err)
		}
	}
}
