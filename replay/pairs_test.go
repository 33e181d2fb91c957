package replay

import (
	"testing"

	"laconic/compact/compacttest"
)

// TestLegalPairs: what a strict upstream takes.
func TestLegalPairs(t *testing.T) {
	f := func(want bool, transcript string) {
		t.Helper()
		msgs := compacttest.Messages(t, transcript)
		if got := legalPairs(msgs); got != want {
			t.Errorf("legal %v, want %v:\n%s", got, want, transcript)
		}
	}
	f(true, "user: hi\nassistant: hello")
	f(true, "user: hi\nassistant: ok | call c1 read a\ntool c1: x")
	f(true, "user: hi\nassistant: ok | call c1 read a | call c2 read b\ntool c2: x\ntool c1: y\nassistant: done")
	// an id may come again in a later round
	f(true, "user: hi\nassistant: ok | call c1 read a\ntool c1: x\nassistant: ok | call c1 read b\ntool c1: x")
	f(true, "user: hi\nassistant: ok | legacy read a\nfunction read: x")
	// the model is asked to go on with its call
	f(true, "user: hi\nassistant [open]: ok | call c1 read a")

	f(false, "user: hi\nassistant: ok | call c1 read a")
	f(false, "user: hi\nassistant: ok | call c1 read a\nuser: and?\ntool c1: x")
	f(false, "user: hi\nassistant: ok | call c1 read a | call c2 read b\ntool c1: x\nassistant: done")
	f(false, "user: hi\nassistant: ok | call c1 read a\ntool c1: x\ntool c1: x")
	f(false, "user: hi\ntool c1: x")
	f(false, "user: hi\nassistant: ok | call c1 read a\ntool c2: x")
	f(false, "user: hi\nassistant: ok | call c1 read a | call c1 read b\ntool c1: x\ntool c1: y")
	f(false, "user: hi\nassistant: ok | call c1 read a | call c1 read b\ntool c1: x")
	f(false, "user: hi\nassistant: ok | call - read a\ntool -: x")
	f(false, "user: hi\nassistant [empty calls]: ok")
	f(false, "user: hi\nassistant: ok | legacy read a\nfunction write: x")
	f(false, "user: hi\nassistant: ok | legacy read a\ntool read: x")
	f(false, "user: hi\nassistant [open]: ok | call c1 read a\nuser: and?")
}
