package digest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/agent"
	"laconic/compact/compacttest"
)

// TestARecordIsSmall: all that is allocated for a record of texts full of names is
// at most a few times the texts. A history of hexadecimal numbers has ten times as
// many names as an agent's.
func TestARecordIsSmall(t *testing.T) {
	const messages, each = 600, 300
	for _, kept := range []int{0, messages / 2} {
		var msgs []compact.Message
		bytes := 0
		for i := range messages {
			var text strings.Builder
			for k := range each {
				fmt.Fprintf(&text, "%08x word ", uint32(i*each+k)*2654435761)
			}
			bytes += text.Len()
			m := assistant(text.String())
			m.Origin = i
			msgs = append(msgs, m)
		}
		r := NewRecord(compacttest.Bytes{})
		n := allocated(func() { r.Add(msgs[:messages-kept], msgs[messages-kept:], 2000, true) })
		if t.Logf("%d kept: %.1f bytes allocated for each", kept, float64(n)/float64(bytes)); n > 5*bytes {
			t.Errorf("%d kept: %d bytes were allocated for %d", kept, n, bytes)
		}
	}
}

// TestTextsAreWrittenOnce: what is allocated for rows, tasks and levels of YAML grows with
// their number. A text that is put together by adding each to all before it grows with its square.
func TestTextsAreWrittenOnce(t *testing.T) {
	list := func(n int) string {
		one := fmt.Sprintf(`,{"id":"a","content":%q}`, strings.Repeat("look at it ", 50))
		return "[" + strings.Repeat(one, n)[1:] + "]"
	}
	for name, write := range map[string]func(n int){
		"rows":   func(n int) { agent.ResultOf(list(n), agent.Other) },
		"levels": func(n int) { agent.ResultOf("a:\n  "+strings.Repeat("- ", n)+"x\nb: 1\n", agent.Other) },
	} {
		few, many := allocated(func() { write(1500) }), allocated(func() { write(6000) })
		if t.Logf("%s: %d and %d bytes for four times as many", name, few, many); many > 6*few {
			t.Errorf("%s: %d bytes are allocated, and %d for four times as many", name, few, many)
		}
	}
}

// allocated returns how many bytes are allocated while f runs.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
