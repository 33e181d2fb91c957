package replay

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// barEvery is how often the bar is drawn again.
const barEvery = 100 * time.Millisecond

// bar draws the progress on one line of a terminal.
type bar struct {
	w     io.Writer
	width int

	mu    sync.Mutex
	start time.Time
	drawn time.Time
	shown bool
}

// barOn gives a bar where w is a terminal for a person: nil where the output
// goes elsewhere, runs in continuous integration (CI) or wants no decoration
// (NO_COLOR, TERM=dumb). A nil bar does nothing.
func barOn(w io.Writer) *bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	if os.Getenv("CI") != "" || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &bar{w: w, width: widthOf(w), start: time.Now()}
}

// widthOf is how many characters fit on a line of a terminal; 0 for what is
// none.
func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

func (b *bar) draw(p Progress) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.drawn) < barEvery {
		return
	}
	b.drawn, b.shown = now, true
	fmt.Fprint(b.w, "\r\x1b[K"+barLine(p, now.Sub(b.start), b.width))
}

// clear takes the bar off the screen.
func (b *bar) clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}

// barLine is the bar as text, shorter than width.
func barLine(p Progress, elapsed time.Duration, width int) string {
	done := 0.0
	if p.Total > 0 {
		done = min(1, float64(p.Bytes)/float64(p.Total))
	}
	text := fmt.Sprintf(" %3.0f %%  %s, %s", 100*done, count(p.Conversations, "conversation"), count(p.Requests, "request"))
	if done > 0.02 && elapsed > time.Second {
		left := time.Duration(float64(elapsed) * (1 - done) / done)
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	cells := min(24, width-len([]rune(text))-1)
	if width > 0 && cells < 4 {
		return string([]rune(text)[:min(max(0, width-1), len([]rune(text)))])
	}
	if width <= 0 {
		cells = 24
	}
	full := int(done * float64(cells))
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full) + text
}
