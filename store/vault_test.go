package store

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var testSecret = []byte("a secret of this test")

func vaultOn(t testing.TB, s Store, secret []byte) *Vault {
	t.Helper()
	v, err := NewVault(s, secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.near.Close) // its store goes on
	return v
}

// TestAVaultGivesWhatItTook, on every store, to a second process that has the
// same secret too.
func TestAVaultGivesWhatItTook(t *testing.T) {
	ctx := context.Background()
	eachStore(t, func(t *testing.T, s Store) {
		k := vaultOn(t, s, testSecret).Key(Group{1}, "record", "a", "b")
		for _, want := range []string{"", "short", strings.Repeat("grüße ", 1000)} {
			mustPutText(t, vaultOn(t, s, testSecret), k, want)
			if got, ok := vaultOn(t, s, testSecret).Get(ctx, k); !ok || got != want {
				t.Fatalf("got %q %v, want %q", got, ok, want)
			}
		}
		if _, ok := vaultOn(t, s, []byte("another secret, as long")).Get(ctx, k); ok {
			t.Fatal("another secret opens it")
		}
	})
}

func TestASwappedOrDamagedValueIsAMiss(t *testing.T) {
	ctx := context.Background()
	eachStore(t, func(t *testing.T, s Store) {
		v := vaultOn(t, s, testSecret)
		mine, other := v.Key(Group{1}, "record", "mine"), v.Key(Group{1}, "record", "other")
		for k, text := range map[Key]string{mine: "my text", other: "the text of somebody else"} {
			mustPutText(t, v, k, text)
		}
		sealed, err := s.Get(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		fresh := func() *Vault { return vaultOn(t, s, testSecret) } // one that remembers nothing
		mustPut(t, s, mine, sealed, time.Hour)
		if got, ok := fresh().Get(ctx, mine); ok {
			t.Fatalf("a swapped value was taken: %q", got)
		}
		for i := range sealed {
			bad := bytes.Clone(sealed)
			bad[i] ^= 0x40
			mustPut(t, s, other, bad, time.Hour)
			if got, ok := fresh().Get(ctx, other); ok {
				t.Fatalf("byte %d was altered and nobody saw it: %q", i, got)
			}
		}
		for n := range len(sealed) {
			if n%7 == 0 && s.Put(ctx, other, sealed[:n], time.Hour) == nil {
				if got, ok := fresh().Get(ctx, other); ok {
					t.Fatalf("%d bytes of it were taken: %q", n, got)
				}
			}
		}
	})
}

func TestAStoreHoldsNeitherTextsNorNames(t *testing.T) {
	seen := &spy{Memory: openTestMemory(t)}
	v := vaultOn(t, seen, testSecret)
	mustPutText(t, v, v.Key(Group{1}, "record", "canary-key"), "canary-text")
	if bytes.Contains(seen.bytes, []byte("canary")) || len(seen.bytes) == 0 {
		t.Fatalf("the store saw %q", seen.bytes)
	}
}

// spy is a store that writes down what it is given, and fails on demand.
type spy struct {
	*Memory
	bytes []byte
	gets  int
	fail  error
	got   func() // called after each answer; nil: not
}

func (s *spy) Get(ctx context.Context, k Key) ([]byte, error) {
	s.gets++
	if s.fail != nil {
		return nil, s.fail
	}
	v, err := s.Memory.Get(ctx, k)
	if s.got != nil {
		s.got()
	}
	return v, err
}

func (s *spy) DeleteGroup(ctx context.Context, g Group) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	return s.Memory.DeleteGroup(ctx, g)
}

func (s *spy) Put(ctx context.Context, k Key, value []byte, ttl time.Duration) error {
	if s.fail != nil {
		return s.fail
	}
	s.bytes = append(append(s.bytes, k[:]...), value...)
	return s.Memory.Put(ctx, k, value, ttl)
}

// TestAVaultRemembersWhatItGave: a text that stood in a conversation stays
// there when the store behind it goes away.
func TestAVaultRemembersWhatItGave(t *testing.T) {
	ctx := context.Background()
	s := &spy{Memory: openTestMemory(t)}
	writer := vaultOn(t, s, testSecret)
	k := writer.Key(Group{1}, "record", "k")
	mustPutText(t, writer, k, "text")
	reader := vaultOn(t, s, testSecret)
	if _, ok := reader.Get(ctx, k); !ok {
		t.Fatal("not found")
	}
	s.fail = errors.New("gone")
	for _, v := range []*Vault{writer, reader} {
		if got, ok := v.Get(ctx, k); !ok || got != "text" {
			t.Fatalf("got %q %v", got, ok)
		}
	}
	if s.gets != 1 {
		t.Errorf("the store was asked %d times, want once", s.gets)
	}
	if err := writer.Put(ctx, writer.Key(Group{1}, "record", "k2"), "text"); err == nil {
		t.Error("a value that could not be stored gave no error")
	}
}

// TestTheLatestIsWhatSomebodyElseWrote, although this process remembers what
// stood there before.
func TestTheLatestIsWhatSomebodyElseWrote(t *testing.T) {
	ctx := context.Background()
	s := &spy{Memory: openTestMemory(t)}
	one, other := vaultOn(t, s, testSecret), vaultOn(t, s, testSecret)
	k := one.Key(Group{1}, "record", "k")
	for _, text := range []string{"first", "second"} {
		mustPutText(t, one, k, text)
		if got, err := other.Latest(ctx, k); err != nil || got != text {
			t.Errorf("got %q %v, want %q", got, err, text)
		}
		if text == "first" {
			_, _ = other.Get(ctx, k)
		}
	}
	if got, err := other.Latest(ctx, one.Key(Group{1}, "record", "k2")); !errors.Is(err, ErrMiss) {
		t.Errorf("of another key: %q", got)
	}
	s.fail = errors.New("gone")
	if got, err := one.Latest(ctx, k); !errors.Is(err, s.fail) {
		t.Errorf("of a store that is gone: %q %v", got, err)
	}
}

func TestAValueHoldsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		lying := &spy{Memory: NewMemory(0)}
		v, err := NewVault(lying, testSecret, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		k := v.Key(Group{1}, "record", "k")
		mustPutText(t, v, k, "text")
		sealed, err := lying.Memory.Get(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if _, ok := v.Get(ctx, k); !ok {
			t.Error("gone too early")
		}
		time.Sleep(2 * time.Minute)
		// The store gives back what it should have forgotten.
		mustPut(t, lying.Memory, k, sealed, time.Hour)
		if got, ok := v.Get(ctx, k); ok {
			t.Errorf("still there: %q", got)
		}
	})
}

func TestKeysOfDifferentPartsDiffer(t *testing.T) {
	v := vaultOn(t, openTestMemory(t), testSecret)
	lists := [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"a\x00b"}, {"b", "a"}}
	seen := map[Key][]string{}
	for _, l := range lists {
		k := v.Key(Group{1}, "record", l...)
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have the same key", l, other)
		}
		seen[k] = l
		if vaultOn(t, openTestMemory(t), []byte("another secret, as long")).Key(Group{1}, "record", l...) == k {
			t.Errorf("%q has the same key under another secret", l)
		}
	}
}

// TestAKeyBeginsWithItsGroup, then with its partition: by that a store finds the one and
// keeps together the other.
func TestAKeyBeginsWithItsGroup(t *testing.T) {
	v := vaultOn(t, openTestMemory(t), testSecret)
	a, b := v.Group("a"), v.Group("b")
	if a == b || v.Group("a", "b") == v.Group("ab") || v.Group("a") != a {
		t.Error("groups are not those of their owners")
	}
	one, two, other := v.Key(a, "r", "1"), v.Key(a, "r", "2"), v.Key(a, "s", "1")
	if one.Group() != a || two.Group() != a || other.Group() != a {
		t.Error("a key is of another group")
	}
	const head = groupBytes + partitionBytes
	if [head]byte(one[:]) != [head]byte(two[:]) || one == two {
		t.Error("two values of one partition")
	}
	if [head]byte(one[:]) == [head]byte(other[:]) || [partBytes]byte(one[head:]) == [partBytes]byte(other[head:]) {
		t.Error("the same part of two partitions")
	}
	if k := v.Key(b, "r", "1"); [partBytes]byte(one[head:]) == [partBytes]byte(k[head:]) || one[groupBytes] == k[groupBytes] {
		t.Error("the same parts of two groups") // one byte of the partition may be the same by chance; not of these
	}
}

// TestWhatIsErasedIsForgotten here too: in the store, in what this process remembers of it,
// and where a value is on its way from the one to the other.
func TestWhatIsErasedIsForgotten(t *testing.T) {
	ctx := context.Background()
	s := &spy{Memory: openTestMemory(t)}
	v := vaultOn(t, s, testSecret)
	mine, other := v.Group("mine"), v.Group("other")
	k, kept := v.Key(mine, "r", "k"), v.Key(other, "r", "k")
	for _, k := range []Key{k, kept} {
		mustPutText(t, v, k, "text")
	}
	if n, err := v.Erase(ctx, mine); n != 1 || err != nil {
		t.Errorf("%d were erased, %v", n, err)
	}
	if _, ok := v.Get(ctx, k); ok {
		t.Error("it is still there")
	}
	if text, ok := v.Get(ctx, kept); !ok || text != "text" {
		t.Error("that of another is gone")
	}

	reader := vaultOn(t, s, testSecret)
	mustPutText(t, v, k, "text")
	s.got = func() { // between the store's answer and the memory of it
		s.got = nil
		if n, err := reader.Erase(ctx, mine); n != 1 || err != nil {
			t.Errorf("%d were erased, %v", n, err)
		}
	}
	_, _ = reader.Get(ctx, k)
	if _, ok := reader.Get(ctx, k); ok {
		t.Error("what was on its way is remembered")
	}

	s.fail = errors.New("gone")
	if _, err := v.Erase(ctx, mine); err == nil {
		t.Error("a store that failed has erased it")
	}
	if _, ok := v.Get(ctx, k); ok {
		t.Error("it is remembered because the store failed")
	}
}

func TestATextThatIsTooLargeIsNotStored(t *testing.T) {
	v := vaultOn(t, openTestMemory(t), testSecret)
	if err := v.Put(context.Background(), v.Key(Group{1}, "record", "k"), strings.Repeat("x", MaxValue+1)); !errors.Is(err, ErrLarge) {
		t.Errorf("got %v", err)
	}
}
