package recording

import (
	"slices"
	"testing"

	"laconic/compact/compacttest"
)

// TestRequestPoints: where a client must have sent a request.
func TestRequestPoints(t *testing.T) {
	f := func(transcript string, sent []int, want ...int) {
		t.Helper()
		r := Recording{Messages: compacttest.Messages(t, transcript), Sent: sent}
		if got := r.RequestPoints(); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v:\n%s", got, want, transcript)
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
