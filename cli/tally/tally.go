// Package tally sums what a proxy did, and says it in a few lines.
//
// It promises:
//
//   - private: sums hold no content and no name.
//   - honest: what was only measured is not called saved, and the tokens that the
//     provider served from its cache stand beside those that were not sent.
package tally

import (
	"fmt"
	"strings"
	"sync"

	"laconic/compact"
	"laconic/proxy"
)

// Tally is the sums of one proxy. The zero value is ready.
type Tally struct {
	mu   sync.Mutex
	sums Sums
}

// Sums count requests and tokens.
type Sums struct {
	Requests int // of all kinds
	Read     int // whose body is written in an API that the proxy reads
	Passed   int // of them, those that went out unread
	Repaired int // whose tool pairs were made legal
	Folded   int // that were compacted
	TooLong  int // that were above their budget as they came
	Again    int // that the upstream refused, and answered when they were sent again
	Over     int // that went out above their budget all the same
	Failed   int // that were answered with an error, or not at all
	Unsent   int // that were only measured: in shadow mode

	Before, After  int64 // tokens of the prompts that were edited or could have been: as they came, as they went
	Prompt, Cached int64 // tokens of prompts as answers tell: all, and those from the provider's cache
}

// Listener returns a listener that adds to the sums.
func (t *Tally) Listener() proxy.Listener { return proxy.Listener{Replied: t.add} }

// Sums returns the sums so far.
func (t *Tally) Sums() Sums {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sums
}

func (t *Tally) add(i proxy.ReplyInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.sums
	s.Requests++
	if i.Status >= 400 && i.Status != proxy.StatusClientLeft {
		s.Failed++
	}
	if i.Wire == "" {
		return
	}
	s.Read++
	if i.Usage != nil {
		s.Prompt += int64(i.Usage.Prompt)
		s.Cached += int64(i.Usage.Cached)
	}
	if i.Rewrite == nil {
		s.Passed++
		return
	}
	r := &i.Rewrite.Report
	if i.Outcome == proxy.Shadow {
		s.Unsent++
		return
	}
	if i.Outcome == proxy.Rejected || i.Unsent {
		return
	}
	s.Before += int64(r.Before)
	s.After += int64(r.After)
	if r.Repairs > 0 {
		s.Repaired++
	}
	if r.Before > r.Budget {
		s.TooLong++
	}
	if r.Outcome == compact.Compacted || i.Outcome == proxy.Retried {
		s.Folded++
	}
	if i.Retry != nil && i.Retry.Answered {
		s.Again++
	}
	if i.Outcome == proxy.Over {
		s.Over++
	}
}

// Lines say what the sums are, in a few lines without their ends.
func (s Sums) Lines() []string {
	switch {
	case s.Requests == 0:
		return []string{"no request came"}
	case s.Read == 0:
		return []string{fmt.Sprintf("no chat request came, %s of other kinds", number(int64(s.Requests)))}
	}
	words := []string{fmt.Sprintf("%s chat %s", number(int64(s.Read)), plural(s.Read, "request"))}
	for _, part := range []struct {
		n    int
		word string
	}{
		{s.Folded, "compacted"},
		{s.Repaired, "with tool calls repaired"},
		{s.Again, "sent again after a refusal"},
		{s.Over, "still over budget"},
		{s.Unsent, "only measured"},
		{s.Passed, "passed unread"},
		{s.Failed, "failed"},
	} {
		if part.n > 0 {
			words = append(words, number(int64(part.n))+" "+part.word)
		}
	}
	lines := []string{strings.Join(words, ", ")}
	if s.Before == 0 {
		return lines
	}
	line := fmt.Sprintf("%s tokens of prompt came, %s went on", number(s.Before), number(s.After))
	if saved := s.Before - s.After; saved > 0 {
		line += fmt.Sprintf(": %s saved (%d %%)", number(saved), saved*100/s.Before)
	} else if s.Folded == 0 {
		line += ": nothing had to leave"
	}
	lines = append(lines, line)
	if s.TooLong > 0 {
		lines = append(lines, fmt.Sprintf("%s of the requests would have been above the budget", number(int64(s.TooLong))))
	}
	if s.Cached > 0 || s.Folded > 0 && s.Prompt > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s prompt tokens came from the provider's cache (%d %%)", number(s.Cached), number(s.Prompt), s.Cached*100/s.Prompt))
	}
	return lines
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// number returns n with a comma between thousands.
func number(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
