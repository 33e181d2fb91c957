package tokenize

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// gpt-4o pays 1,200 tokens for the text of a page and 765 for its picture: 1224 × 1584 → 768 × 994, 2 × 2 tiles.
const pageOfGPT4o = 1_200 + 85 + 170*4

func TestPDFCostsItsPages(t *testing.T) {
	f := func(name string, raw []byte, pages int) {
		t.Helper()
		data := base64.StdEncoding.EncodeToString(raw)
		for _, form := range []string{data, "data:application/pdf;base64," + data, "data:;base64," + data} {
			if got := For("gpt-4o").File(form, "report.pdf"); got != pages*pageOfGPT4o {
				t.Errorf("%s: %d tokens, want %d pages of %d", name, got, pages, pageOfGPT4o)
			}
		}
	}
	f("one page", pdf("<< /Type /Page /Parent 1 0 R >>"), 1)
	f("no space", pdf("<</Type/Page>>", "<</Type/Page/Parent 1 0 R>>"), 2)
	f("a line end", pdf("<< /Type\r\n/Page\r\n>>", "<< /Type\t\f\x00 /Page >>"), 2)
	f("other objects", pdf("<< /Type /Pages /Count 1 >>", "<< /Type /PageLabel >>", "<< /PageMode /UseNone >>", "<< /Type /Page >>"), 1)
	f("a cut file", pdf("<< /Type /Page"), 1)
	f("many pages", pdf(slices.Repeat([]string{"<< /Type /Page >>\n" + strings.Repeat("stream ", 200)}, 250)...), 250)
	f("more pages than any provider takes", pdf(slices.Repeat([]string{"<< /Type /Page >>"}, 5_000)...), 1_000)
	f("nothing readable, small", pdf("compressed"), 1)
	f("nothing readable, 100 kB", pdf(strings.Repeat("z", 100<<10)), 6) // one per 20 KiB, begun ones too
	f("nothing readable, 10 MB", pdf(strings.Repeat("z", 10<<20)), 100)
	f("one page shown, others packed", pdf("<< /Type /Page >>", "<< /Type /ObjStm >>", strings.Repeat("z", 100<<10)), 6)
	f("many shown, others packed", pdf(append(slices.Repeat([]string{"<< /Type /Page >>"}, 40), "<< /Type /ObjStm >>")...), 40)
}

func TestPDFThatBreaksOffIsGuessedFromItsSize(t *testing.T) {
	data := base64.StdEncoding.EncodeToString(pdf("<< /Type /Page >>", strings.Repeat("z", 100<<10)))
	if got := For("gpt-4o").File(data[:5_000]+"!"+data[5_000:], "x.pdf"); got != 6*pageOfGPT4o {
		t.Errorf("got %d, want %d", got, 6*pageOfGPT4o)
	}
}

func TestOnlyAPDFThatIsThereIsSearched(t *testing.T) {
	f := func(data, name string, want bool) {
		t.Helper()
		if got := Searched(data, name); got != want {
			t.Errorf("Searched(%q, %q) = %v", data, name, got)
		}
	}
	data := base64.StdEncoding.EncodeToString(pdf("<< /Type /Page >>"))
	f(data, "", true)
	f("data:application/pdf;base64,AAAA", "", true)
	f("AAAA", "x.PDF", true)
	f("data:;base64,AAAA", "x.pdf", true)
	f("data:text/plain;base64,AAAA", "x.pdf", false)
	f("AAAA", "x.txt", false)
	f("AAAA", "", false)
	f("", "x.pdf", false)
	f("https://example.com/x.pdf", "x.pdf", false)
	f("data:application/pdf,plain", "x.pdf", false)
}

func TestPageCostsByFamily(t *testing.T) {
	f := func(model string, want int) {
		t.Helper()
		data := base64.StdEncoding.EncodeToString(pdf("<< /Type /Page >>"))
		if got := For(model).File(data, ""); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
	f("claude-3-5-sonnet-20241022", 2_800) // documented: 1,500 to 3,000
	f("gemini-2.5-pro", 258)               // documented
	f("gemini-3-pro", 1_120)
	f("gpt-4o-mini", 1_200+2833+5667*4)
}

func TestOtherFilesCostTheirSize(t *testing.T) {
	f := func(data, name string, want int) {
		t.Helper()
		if got := For("gpt-4o").File(data, name); got != want {
			t.Errorf("%.40q, %q: %d, want %d", data, name, got, want)
		}
	}
	text := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 3_200*3))
	f(text, "notes.txt", 3_200)
	f(text, "", 3_200)
	f("data:text/plain;base64,"+text, "notes.txt", 3_200)
	f("data:text/plain;base64,"+text, "notes.pdf", 3_200) // the media type knows better than the name

	f("", "report.pdf", FileUnseen)
	f("", "", FileUnseen)
	f("https://example.com/report.pdf", "report.pdf", FileUnseen)
	f("data:application/pdf,plain", "report.pdf", FileUnseen)
	f("data:text/csv,a%2Cb", "", FileUnseen)
	f("data:text/csv,"+strings.Repeat("1%2C2%0A", 90_000), "", For("gpt-4o").Bytes(14+720_000)) // text that is no base64

	f(dataURL("image/png", encodePNG(1024, 1024)), "x.png", 765)
	f(dataURL("audio/wav", wav(48_000, 480_000-44, "")), "x.wav", 100)
}

// FuzzMedia looks for a sound or a file that panics or costs nonsense.
func FuzzMedia(f *testing.F) {
	encode := base64.StdEncoding.EncodeToString
	f.Add(encode(wav(48_000, 10, "")), "wav")
	f.Add(encode(wavChunk("LIST", 1<<31, 100)), "mp3")
	f.Add(encode(pdf("<< /Type /Page >>", "<< /Type /ObjStm >>")), "report.pdf")
	f.Add("data:image/png;base64,iVBO", "x.png")
	f.Add("data:audio/wav;base64,UklGR", "")
	f.Add("0", "0") // less than a byte
	f.Fuzz(func(t *testing.T, data, name string) {
		for _, model := range onePerFormula {
			c := For(model)
			// A sound has at most 32 tokens for each 1,000 bytes at least, a file at most 1,000 pages.
			if cost := c.Audio(data, name); cost < 1 || cost > AudioUnseen*32+len(data)*32 {
				t.Fatalf("%q as %q costs %d with %s", data, name, cost, c.Family())
			}
			if cost := c.Image(data, name); cost < 1 || cost > 50_000 {
				t.Fatalf("%q costs %d with %s", data, cost, c.Family())
			}
			if cost := c.File(data, name); cost < 0 || cost > len(data)*32+40_000*mostPages {
				t.Fatalf("%q as %q costs %d with %s", data, name, cost, c.Family())
			}
		}
	})
}

func pdf(objects ...string) []byte {
	return []byte("%PDF-1.4\n" + strings.Join(objects, "\n") + "\n%%EOF\n")
}
