package top

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"laconic/proxy/page"
	"laconic/proxy/why"
)

// TestTheBoardInATerminal: what is wrong comes first, names are no commands of the
// terminal, and nothing is wider or longer than it.
func TestTheBoardInATerminal(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	b := &page.Board{
		Version: "1", Since: now.Add(-time.Hour), All: page.BoardLine{Requests: 3, Errors: 1, Median: 40, Slow: 90, Prompt: 100, Cached: 66, PerMinute: 1.5},
		Models: []page.BoardLine{{Name: "a\x1b[2J", Requests: 3, Errors: 1}}, Keys: []page.BoardLine{{Name: strings.Repeat("k", 40), Requests: 3}},
		Faults: []page.BoardFault{{What: "error", Requests: 1, Says: "1 request failed", ID: "x7", Last: now.Add(-time.Minute), Why: "the upstream\nanswered 500"}},
		Down:   []why.Finding{{Says: "http://up is down", Fix: "start it"}},
	}
	const want = `laconic 1 · 3 requests since 02:04:05

http://up is down (start it)
1 request failed, last 1m0s ago (x7): the upstream answered 500

                           requests     failed       over        cut first byte  95 of 100    per min     cached
all                               3          1          0          0      40 ms      90 ms        1.5       66 %

model
  "a\x1b[2J"                      3          1          0          0          –          –        0.0          –

client
  kkkkkkkkkkkkkkkkkkkkk…          3          0          0          0          –          –        0.0          –`
	if got := strings.Join(Lines(b, now, 0, 0), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	small := Lines(b, now, 40, 9)
	if len(small) != 9 || small[3] != "1 request failed, last 1m0s ago (x7):" || small[4] != "    the upstream answered 500" {
		t.Errorf("%q", small)
	}
	for _, line := range small {
		if utf8.RuneCountInString(line) > 40 {
			t.Errorf("%q", line)
		}
	}
	if got := Lines(&page.Board{All: page.BoardLine{Requests: 1}}, now, 0, 0); !strings.Contains(got[0], " 1 request since ") || got[2] != "nothing is wrong" {
		t.Errorf("%q", got)
	}
}
