package digest

import (
	"slices"
	"strings"
	"testing"
)

func TestNamesOfThings(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for from, to := range names(text) {
			got = append(got, text[from:to])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
	f("")
	f("the listener is closed too early.")
	f("open src/app.go, then NewServer() in it", "src/app.go", "NewServer")
	f(`{"path":"server/reload.go","line":1180}`, "server/reload.go", "1180")
	f("a reload_timeout of 30 seconds", "reload_timeout")
	f("user mia_li_3668 ordered #W7678072 on 2024-05-15.", "mia_li_3668", "W7678072", "2024-05-15")
	f("see https://example.org/notes/42.", "https://example.org/notes/42")
	f("write to ann@example.org: now", "ann@example.org")
	f("--verbose --dry-run -x", "dry-run")
	f("12 345 6789", "6789")
	f("e.g. i.e. etc.")
	f("Übergröße/äöü ist_daö", "ist_da") // letters beyond ASCII end a name
	f(strings.Repeat("x", 101) + "1")
	f("wait... and ---- see")
	// A long word with a capital is a name, unless it begins a sentence or a line.
	f("asked Magdalena about the Ledger of Kensington.", "Magdalena", "Kensington")
	f("Magdalena asked. Kensington answered: Somebody did\n\tOtherwise\n- Something, **Important**", "Important")
}
