package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"laconic/replay"
)

// progressEvery is the least time between two drawings.
const progressEvery = 100 * time.Millisecond

// progressBar shows the progress of a replay on one line of a terminal.
type progressBar struct {
	w     io.Writer
	width int
	drawn time.Time // zero before the first time
}

// progressOn returns a bar on w, or nil if w is not a terminal, in continuous
// integration (CI), or without decoration (NO_COLOR, TERM=dumb). A nil bar draws
// nothing.
func progressOn(w io.Writer) *progressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("CI") != "" || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progressBar{w: w, width: widthOf(w)}
}

// widthOf returns how many characters fit on a line of a terminal; 0 for
// anything else.
func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

func (b *progressBar) draw(p replay.Progress) {
	if b == nil || time.Since(b.drawn) < progressEvery {
		return
	}
	b.drawn = time.Now()
	fmt.Fprint(b.w, "\r\x1b[K"+progressLine(p, b.width))
}

// clear removes the bar from the screen.
func (b *progressBar) clear() {
	if b != nil && !b.drawn.IsZero() {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// progressLine returns how far a replay is, shorter than width; 0 means no limit.
func progressLine(p replay.Progress, width int) string {
	done := 0.0
	if p.Total > 0 {
		done = min(1, float64(p.Bytes)/float64(p.Total))
	}
	text := []rune(fmt.Sprintf("%3.0f %%  %s, %s", 100*done, replay.Count(p.Conversations, "conversation"), replay.Count(p.Requests, "request")))
	if width > 0 {
		text = text[:min(width-1, len(text))]
	}
	return string(text)
}
