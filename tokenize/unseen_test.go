package tokenize

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestAVideoCostsItsSeconds(t *testing.T) {
	c := For("gpt-4o")
	f := func(what, data string, want int) {
		t.Helper()
		if got := c.Video(data); got != want {
			t.Errorf("%s: %d tokens, want %d", what, got, want)
		}
	}
	minute := base64.StdEncoding.EncodeToString(make([]byte, 60*62_500))
	f("a minute", "data:video/mp4;base64,"+minute, 60*300)
	f("a moment", "data:video/mp4;base64,AAAA", 300)
	f("a URL", "https://x/v.mp4", FileUnseen)
	f("nothing", "", FileUnseen)
	f("a minute without a head", minute, 60*300)
}

func TestAnUnknownPartCostsItsText(t *testing.T) {
	c := For("gpt-4o")
	f := func(what, raw string, want int) {
		t.Helper()
		if got := c.Unknown(raw); got != want {
			t.Errorf("%s: %d tokens, want %d", what, got, want)
		}
	}
	text := `{"type":"document","source":{"type":"text","data":"` + strings.Repeat("The quick brown fox. ", 1_000) + `"}}`
	f("text", text, c.Text(text))
	f("text in one piece", strings.Repeat("あ", 5_000), c.Text(strings.Repeat("あ", 5_000)))
	f("nothing", "", 0)
	data := strings.Repeat("iVBORw0K", 100_000)
	f("data", data, FileUnseen)
	f("data between texts", `{"type":"document","data":"`+data+`"}`, c.Text(`{"type":"document","data":"`)+FileUnseen+c.Text(`"}`))
	f("escaped", strings.ReplaceAll(strings.Repeat("iVBO/w0K+", 10_000), "/", `\/`), FileUnseen)
	f("escaped as .NET does", strings.ReplaceAll(strings.Repeat("iVBO/w0K+", 10_000), "+", `\u002B`), FileUnseen)
	names := strings.Repeat(`first\nsecond\n`, 500)
	f("names in lines", names, c.Text(names))
	f("twice", data+`","`+data, FileUnseen+c.Text(`","`))
}
