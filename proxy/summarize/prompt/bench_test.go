package prompt

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
)

// BenchmarkRender writes a transcript of 400 KB, in one block for each result.
func BenchmarkRender(b *testing.B) {
	var msgs []compact.Message
	for i := range 100 {
		msgs = append(msgs, compact.Message{Role: compact.Tool, Parts: []compact.Part{{
			Text: compact.Plain(strings.Repeat(fmt.Sprintf("key %d: see https://example.com/%d and <b>that</b>\n", i, i), 80)),
		}}})
	}
	for _, mask := range []bool{false, true} {
		b.Run(fmt.Sprintf("mask=%v", mask), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = len(rendered(msgs, mask))
			}
			b.SetBytes(int64(n))
		})
	}
}
