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

func TestSelectBest(t *testing.T) {
	for _, scores := range [][]float64{{}, {1}, {1, 1, 1}, {3, 1, 2}, {5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5}, {1, 0, 1, 0, 1, 0, 1, 7}} {
		for n := range len(scores) + 2 {
			var list []*nameStat
			for i, s := range scores {
				list = append(list, &nameStat{score: s, order: int32(i)})
			}
			want := slices.SortedFunc(slices.Values(list), byScore)
			got := list[:selectBest(list, n)]
			slices.SortFunc(got, byScore)
			if !slices.Equal(got, want[:min(n, len(want))]) {
				t.Errorf("the best %d of %v are others", n, scores)
			}
		}
	}
}
