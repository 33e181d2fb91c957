package digest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestARecordIsSmall: all that is allocated for a record of texts full of names is
// at most three times the texts. A history of hexadecimal numbers has ten times as
// many names as an agent's.
func TestARecordIsSmall(t *testing.T) {
	const messages = 1000
	f := func(name string, kept, each int) {
		t.Helper()
		var msgs []compact.Message
		bytes := 0
		for i := range messages {
			var text strings.Builder
			for k := range each {
				fmt.Fprintf(&text, "%08x word ", uint32(i*each+k)*2654435761)
			}
			bytes += text.Len()
			m := user(text.String())
			m.Role, m.Origin = compact.Assistant, i
			msgs = append(msgs, m)
		}
		var before, after runtime.MemStats
		r := NewRecord(compacttest.Bytes{})
		runtime.ReadMemStats(&before)
		r.Add(msgs[:messages-kept], msgs[messages-kept:], 2000, true)
		runtime.ReadMemStats(&after)
		if n := len(r.index.names); n > leastKnown+bytes/bytesPerName {
			t.Errorf("%s: %d names are known", name, n)
		}
		if n := int(after.TotalAlloc - before.TotalAlloc); n > 3*bytes {
			t.Errorf("%s: %d bytes were allocated for %d", name, n, bytes)
		}
	}
	f("all left", 0, 300)
	f("half left", messages/2, 300)
}

// TestANameThatWasForgottenIsLearntAgain: the memory of names is used again, and
// nothing of the one is told of the other.
func TestANameThatWasForgottenIsLearntAgain(t *testing.T) {
	r := NewRecord(compacttest.Bytes{})
	for i := range 40 {
		var text strings.Builder
		for k := range 1000 {
			fmt.Fprintf(&text, "name_%d ", (i/2*700+k)%20_000)
		}
		text.WriteString("always_there ")
		m := user(text.String())
		m.Role, m.Origin = compact.Assistant, i
		r.Add([]compact.Message{m}, nil, 10, i%7 == 0)
	}
	known := map[*nameStat]string{}
	for name, s := range r.index.names {
		if s.name != name || known[s] != "" {
			t.Fatalf("%q is the memory of %q and %q", name, s.name, known[s])
		}
		known[s] = name
	}
	seen := map[*nameStat]bool{}
	for _, s := range r.index.lost {
		if s.latest < 0 || known[s] == "" || seen[s] {
			t.Fatalf("%q left, and is not known as such", s.name)
		}
		seen[s] = true
	}
	if s := r.index.names["always_there"]; s == nil || s.msgs < 2 {
		t.Errorf("what is in each message: %+v", s)
	}
}
