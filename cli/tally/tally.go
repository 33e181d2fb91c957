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
	"laconic/number"
	"laconic/proxy"
)

// Tally sums the requests and tokens of one proxy. The zero value is ready.
type Tally struct {
	mu sync.Mutex

	requests int // of all kinds
	read     int // whose body is written in an API that the proxy reads
	passed   int // of them, those that went out unread
	repaired int // whose tool pairs were made legal
	folded   int // that were compacted
	tooLong  int // that were above their budget as they came
	again    int // that the upstream refused, and answered when they were sent again
	over     int // that went out above their budget all the same
	failed   int // that were answered with an error, or not at all
	unsent   int // that were only measured: in shadow mode

	before, after  int64 // tokens of the prompts that were edited or could have been: as they came, as they went
	prompt, cached int64 // tokens of prompts as answers tell: all, and those from the provider's cache
}

// Listener returns a listener that adds to the sums.
func (t *Tally) Listener() proxy.Listener { return proxy.Listener{Replied: t.add} }

// Requests returns how many requests came.
func (t *Tally) Requests() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requests
}

func (t *Tally) add(i proxy.ReplyInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	if i.Status >= 400 && i.Status != proxy.StatusClientLeft {
		t.failed++
	}
	if i.Wire == "" {
		return
	}
	t.read++
	if i.Usage != nil {
		t.prompt += int64(i.Usage.Prompt)
		t.cached += int64(i.Usage.Cached)
	}
	if i.Rewrite == nil {
		t.passed++
		return
	}
	r := &i.Rewrite.Report
	if i.Outcome == proxy.Shadow {
		t.unsent++
		return
	}
	if i.Outcome == proxy.Rejected || i.Unsent {
		return
	}
	t.before += int64(r.Before)
	t.after += int64(r.After)
	if r.Repairs > 0 {
		t.repaired++
	}
	if r.Before > r.Budget {
		t.tooLong++
	}
	if r.Outcome == compact.Compacted || i.Outcome == proxy.Retried {
		t.folded++
	}
	if i.Retry != nil && i.Retry.Answered {
		t.again++
	}
	if i.Outcome == proxy.Over {
		t.over++
	}
}

// Lines say what the sums are, in a few lines without their ends.
func (t *Tally) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.requests == 0:
		return []string{"no request came"}
	case t.read == 0:
		return []string{fmt.Sprintf("no chat request came, %s of other kinds", number.Of(t.requests))}
	}
	words := []string{number.Count(t.read, "chat request")}
	for _, part := range []struct {
		n    int
		word string
	}{
		{t.folded, "compacted"},
		{t.repaired, "with tool calls repaired"},
		{t.again, "sent again after a refusal"},
		{t.over, "still over budget"},
		{t.unsent, "only measured"},
		{t.passed, "passed unread"},
		{t.failed, "failed"},
	} {
		if part.n > 0 {
			words = append(words, number.Of(part.n)+" "+part.word)
		}
	}
	lines := []string{strings.Join(words, ", ")}
	if t.before == 0 {
		return lines
	}
	line := fmt.Sprintf("%s tokens of prompt came, %s went on", number.Of(t.before), number.Of(t.after))
	if saved := t.before - t.after; saved > 0 {
		line += fmt.Sprintf(": %s saved (%d %%)", number.Of(saved), saved*100/t.before)
	} else if t.folded == 0 {
		line += ": nothing had to leave"
	}
	lines = append(lines, line)
	if t.tooLong > 0 {
		lines = append(lines, fmt.Sprintf("%s of the requests would have been above the budget", number.Of(t.tooLong)))
	}
	if t.cached > 0 || t.folded > 0 && t.prompt > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s prompt tokens came from the provider's cache (%d %%)", number.Of(t.cached), number.Of(t.prompt), t.cached*100/t.prompt))
	}
	return lines
}
