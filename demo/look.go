package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// look is the layout. A line is:
//
//	turn  what the agent does  bar  tokens → sent  marks  outcome  without the proxy
type look struct {
	color     bool
	width     int
	what, bar int // widths
	scale     int // tokens of a full bar
	stretched bool
}

const (
	numberWide  = 3
	tokensWide  = 13 // "12.3k → 12.3k"
	marksWide   = 2
	outcomeWide = 9  // "compacted"
	bareWide    = 10 // "(too long)"
	gap         = "  "
)

func newLook(o Options, c *conversation) look {
	l := look{color: o.Color, width: max(80, o.Width)}
	rest := l.width - numberWide - tokensWide - marksWide - outcomeWide - bareWide - 6*len(gap)
	l.what = min(22, rest/2)
	l.bar = rest - l.what
	_, end := c.requests(o.Turns)
	body, err := json.Marshal(map[string]any{"model": c.Model, "tools": c.Tools, "messages": c.Messages[:end]})
	if err != nil {
		panic("BUG: the conversation of the demo is not JSON: " + err.Error())
	}
	if whole, _ := o.Upstream.Read(body); whole != nil {
		l.scale = whole.PromptTokens()
	}
	return l
}

// row puts the columns of a line side by side.
func (l *look) row(columns ...string) string { return strings.Join(columns, gap) }

// The colours, as ANSI parameters.
const (
	plain   = ""
	bold    = "1"
	faint   = "2"
	red     = "31"
	green   = "32"
	yellow  = "33;1"
	magenta = "35;1"
	cyan    = "36"
)

func (l *look) paint(color, s string) string {
	if !l.color || color == plain || strings.TrimSpace(s) == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// barOf draws one bar: what was sent solid, what the client sent beyond it
// light, the budget as a line.
func (l *look) barOf(client, sent, budget int) string {
	scale := max(1, l.scale)
	eighths := min(8*l.bar, sent*8*l.bar/scale)
	if sent > 0 {
		eighths = max(1, eighths) // every request is visible
	}
	light := min(l.bar, (client*l.bar+scale-1)/scale)
	if client <= sent {
		light = 0
	}
	line := min(l.bar-1, budget*l.bar/scale)
	over := green
	if sent > budget {
		over = red
	}
	solid := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(string([]rune(" ▏▎▍▌▋▊▉█")[min(8, max(0, eighths-8*i))]))
		}
		return l.paint(over, b.String())
	}
	cells := func(from, to int) string { // the cells [from, to) of the bar
		full := min(to, max(from, (eighths+7)/8))
		end := min(to, max(full, light))
		return solid(from, full) + l.paint(faint, strings.Repeat("░", end-full)) + strings.Repeat(" ", to-end)
	}
	return cells(0, line) + l.paint(yellow, "│") + cells(line+1, l.bar)
}

// short returns a number of tokens in at most five columns.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 99_950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// fit cuts or pads s to n columns.
func fit(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if utf8.RuneCountInString(s) > n {
		return string([]rune(s)[:n-1]) + "…"
	}
	return fmt.Sprintf("%-*s", n, s)
}

// wrap breaks s into lines of at most n columns, at blanks.
func wrap(s string, n int) []string {
	lines := []string{""}
	for i, word := range strings.Fields(s) {
		last := &lines[len(lines)-1]
		switch {
		case i == 0:
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= n:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// clip cuts s to n characters, followed by an ellipsis.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}
