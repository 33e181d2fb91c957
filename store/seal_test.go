package store

import (
	"path/filepath"
	"testing"
)

// TestASealedText is opened by who has the secret, for its owner alone.
func TestASealedText(t *testing.T) {
	m := openTestMemory(t)
	one, two := vaultOn(t, m, testSecret), vaultOn(t, m, testSecret)
	sealed := one.SealText("the text", "upstream", "owner")
	if text, ok := two.OpenText(sealed, "upstream", "owner"); !ok || text != "the text" {
		t.Errorf("%q %v", text, ok)
	}
	for _, owner := range [][]string{{"upstream"}, {"upstream", "other"}, {"upstreamo", "wner"}} {
		if _, ok := two.OpenText(sealed, owner...); ok {
			t.Errorf("opened for %q", owner)
		}
	}
	if _, ok := vaultOn(t, m, []byte("another secret, as long")).OpenText(sealed, "upstream", "owner"); ok {
		t.Error("another secret opens it")
	}
	if _, ok := two.OpenText("x"+sealed, "upstream", "owner"); ok {
		t.Error("it was damaged, and opened")
	}
}

// TestWhichSecretsLast: one that is configured, or kept beside a file.
func TestWhichSecretsLast(t *testing.T) {
	f := func(name string, o Options, want bool) {
		t.Helper()
		v, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if v.Lasts() != want {
			t.Errorf("%s: %v", name, v.Lasts())
		}
		v.Close()
	}
	f("memory", Options{}, false)
	f("memory with a secret", Options{Secret: testSecret}, true)
	f("a file", Options{Kind: InFile, Path: filepath.Join(t.TempDir(), "f.db")}, true)
	f("a file that is none", Options{Kind: InFile, Path: t.TempDir()}, false)
}
