package tokenize

import (
	"strings"
	"testing"
)

func BenchmarkText(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"100B", 100}, {"10KB", 10_000}, {"4MB", 4_000_000}} {
		b.Run(size.name, func(b *testing.B) {
			c, text := For("gpt-4o"), strings.Repeat("x", size.bytes)
			b.SetBytes(int64(size.bytes))
			b.ReportAllocs()
			for b.Loop() {
				c.Text(text)
			}
		})
	}
}
