package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"laconic/demo/strict"
)

// look is how the show is laid out. A line is:
//
//	turn  what the agent does  bar  tokens → sent  marks  outcome  without the proxy  [stages]
type look struct {
	color             bool
	width             int
	what, bar, stages int // columns; stages 0 means that there is no room
	scale             int // tokens of a full bar in the upstream's count
	stretched         bool
}

const (
	tokensWide  = 13 // "12.3k → 12.3k"
	outcomeWide = 9  // "compacted"
	bareWide    = 10 // "(too long)"
)

func newLook(o Options, beats []beat) look {
	l := look{color: o.Color, width: max(80, o.Width)}
	rest := l.width - 3 - 1 - 1 - tokensWide - 1 - 2 - 1 - outcomeWide - 1 - bareWide - 1 // for what and bar
	l.what = min(22, rest*17/40)
	if l.width >= 110 {
		l.stages = (rest - l.what) * 2 / 5
		rest -= l.stages + 1
	}
	l.bar = rest - l.what
	l.scale = storyTokens(beats, o.Turns)
	return l
}

// storyTokens is how large the conversation gets in the upstream's count, for the length of a full bar.
func storyTokens(beats []beat, turns int) int {
	sum := strict.Tokens(strict.Message{Text: systemPrompt}) + strict.ToolTokens(marshal(tools))
	for _, b := range beats {
		switch {
		case b.user != "":
			sum += strict.Tokens(strict.Message{Text: b.user})
			continue
		case b.aside == "":
			sum += strict.Tokens(strict.Message{Text: b.agent, Calls: b.reply().Calls})
			for _, c := range b.calls {
				sum += strict.Tokens(strict.Message{Text: c.result})
			}
		}
		if turns--; turns == 0 {
			break
		}
	}
	return sum
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: the tools of the demo are not JSON: " + err.Error())
	}
	return b
}

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

func (l look) paint(color, s string) string {
	if !l.color || color == plain || strings.TrimSpace(s) == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// barOf draws one bar: what was sent solid, what the client sent beyond it light, the budget as a line.
func (l look) barOf(client, sent, budget int) string {
	cell := func(tokens int) int { return min(l.bar-1, tokens*l.bar/max(1, l.scale)) }
	eighths := min(8*l.bar, sent*8*l.bar/max(1, l.scale))
	if sent > 0 {
		eighths = max(1, eighths) // a request is never invisible
	}
	full := min(l.bar, (client*l.bar+l.scale-1)/max(1, l.scale))
	line := cell(budget)
	over := green
	if sent > budget {
		over = red
	}
	var b strings.Builder
	run, runColor := "", plain
	put := func(color, cell string) { // cells of one colour are painted together
		if color != runColor {
			b.WriteString(l.paint(runColor, run))
			run, runColor = "", color
		}
		run += cell
	}
	for i := range l.bar {
		switch {
		case i == line:
			put(yellow, "│")
		case eighths >= 8*(i+1):
			put(over, "█")
		case eighths > 8*i:
			put(over, string([]rune(" ▏▎▍▌▋▊▉")[eighths-8*i]))
		case i < full && client > sent:
			put(faint, "░")
		default:
			put(plain, " ")
		}
	}
	put("end", "")
	return b.String()
}

// short is a number of tokens in at most five columns.
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

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// fit cuts s to n columns and fills it up with blanks.
func fit(s string, n int) string {
	if w := utf8.RuneCountInString(s); w <= n {
		return s + strings.Repeat(" ", n-w)
	}
	return string([]rune(s)[:max(0, n-1)]) + "…"
}

// right fills s up to n columns on the left.
func right(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + s
}

// wrap breaks s into lines of at most n columns, at blanks.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
