package replay

import (
	"testing"

	"laconic/compact/compacttest"
)

// TestLegalPairs: what a strict upstream takes.
func TestLegalPairs(t *testing.T) {
	f := func(want bool, transcript string) {
		t.Helper()
		msgs, err := compacttest.Parse(transcript)
		if err != nil {
			t.Fatal(err)
		}
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

// TestRequestPoints: where a client must have sent a request.
func TestRequestPoints(t *testing.T) {
	f := func(transcript string, sent []int, want ...int) {
		t.Helper()
		msgs, err := compacttest.Parse(transcript)
		if err != nil {
			t.Fatal(err)
		}
		r := Recorded{Messages: msgs, Sent: sent}
		got := r.requestPoints()
		if len(got) != len(want) {
			t.Fatalf("%v, want %v:\n%s", got, want, transcript)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%v, want %v:\n%s", got, want, transcript)
			}
		}
	}
	f("system: s\nuser: hi\nassistant: hello", nil, 2)
	f("user: hi\nassistant: ok | call c1 read a\ntool c1: x\nassistant: done\nuser: more", nil, 1, 3, 5)
	// parallel calls wait for all results
	f("user: hi\nassistant: ok | call c1 read a | call c2 read b\ntool c1: x\ntool c2: y\nassistant: done", nil, 1, 4)
	// text and calls of one turn, written as two messages
	f("user: hi\nassistant: first\nassistant: ok | call c1 read a\ntool c1: x\nassistant: done", nil, 1, 2, 4)
	// no request between a call and the next assistant message
	f("user: hi\nassistant: ok | call c1 read a\nassistant: ok | call c2 read b\ntool c1: x\ntool c2: x", nil, 1, 5)
	// a list that starts with the model's words
	f("assistant: hello\nuser: hi", nil, 2)
	// requests that were recorded as such
	f("user: hi\nassistant: hello\nuser: a\nuser: b\nassistant: c", []int{3, 4}, 1, 3, 4)
}
