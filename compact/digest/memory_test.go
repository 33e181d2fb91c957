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
		var before, after runtime.MemStats
		r := NewRecord(compacttest.Bytes{})
		runtime.ReadMemStats(&before)
		r.Add(msgs[:messages-kept], msgs[messages-kept:], 2000, true)
		runtime.ReadMemStats(&after)
		n := int(after.TotalAlloc - before.TotalAlloc)
		if t.Logf("%d kept: %.1f bytes allocated for each", kept, float64(n)/float64(bytes)); n > 4*bytes {
			t.Errorf("%d kept: %d bytes were allocated for %d", kept, n, bytes)
		}
	}
}
