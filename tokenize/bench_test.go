package tokenize

import (
	"encoding/base64"
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

func BenchmarkFor(b *testing.B) {
	for _, model := range []string{"gpt-4o", "openrouter/anthropic/claude-sonnet-4.5", "my-finetune"} {
		b.Run(strings.ReplaceAll(model, "/", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				For(model)
			}
		})
	}
}

func BenchmarkImage(b *testing.B) {
	photo := withSegments(encodeJPEG(1600, 1200), 0xe1, 65_000, 3)
	for _, url := range []struct{ name, url string }{
		{"png", pngURL(1024, 1024)},
		{"jpeg_200KB_of_segments", dataURL("image/jpeg", photo)},
		{"jpeg_in_lines", "data:image/jpeg;base64," + inLines(base64.StdEncoding.EncodeToString(photo), 76, "\n")},
		{"jpeg_hostile_1MB", "data:image/jpeg;base64,/9j/" + strings.Repeat("/", 1<<20)},
		{"remote", "https://example.com/cat.png"},
	} {
		b.Run(url.name, func(b *testing.B) {
			c := For("gpt-4o")
			b.ReportAllocs()
			for b.Loop() {
				c.Image(url.url, "high")
			}
		})
	}
}

func BenchmarkTools(b *testing.B) {
	c, raw := For("gpt-4o"), []byte("["+strings.Repeat(weatherTool[1:len(weatherTool)-1]+", ", 300)+"{}]")
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		c.Tools(raw)
	}
}

func BenchmarkPDF(b *testing.B) {
	data := base64.StdEncoding.EncodeToString(pdf(slicesRepeat("<< /Type /Page >>\n"+strings.Repeat("stream/7 ", 2_000), 200)...))
	c := For("gpt-4o")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		c.File(data, "report.pdf")
	}
}
