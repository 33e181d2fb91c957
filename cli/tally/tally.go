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
	"sync/atomic"

	"laconic/compact"
	"laconic/number"
	"laconic/proxy"
)

// Tally sums the requests and tokens of one proxy. The zero value is ready.
type Tally struct {
	requests atomic.Int64 // of all kinds

	mu      sync.Mutex
	read    int            // whose body is written in an API that the proxy reads
	tooLong int            // that were above their budget as they came
	ended   map[string]int // by the words of ends

	before, after  int64 // tokens of the prompts that were edited or could have been: as they came, as they went
	prompt, cached int64 // tokens of prompts as answers tell: all, and those from the provider's cache
}

// Things that happen to requests. Several may be true of one.
const (
	folded   = "compacted"
	repaired = "with tool calls repaired"
	again    = "sent again after a refusal"
	over     = "still over budget"
	unsent   = "only measured"
	passed   = "passed unread"
	failed   = "failed"
)

var ends = []string{folded, repaired, again, over, unsent, passed, failed}

// Listener returns a listener that adds to the sums.
func (t *Tally) Listener() proxy.Listener { return proxy.Listener{Replied: t.add} }

// Requests returns how many requests came.
func (t *Tally) Requests() int { return int(t.requests.Load()) }

func (t *Tally) add(i proxy.ReplyInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended = map[string]int{}
	}
	count := func(is bool, end string) {
		if is {
			t.ended[end]++
		}
	}
	t.requests.Add(1)
	count(i.Status >= 400 && i.Status != proxy.StatusClientLeft, failed)
	if i.Wire == "" {
		return
	}
	t.read++
	if i.Usage != nil && i.Usage.CacheStated {
		t.prompt += int64(i.Usage.Prompt)
		t.cached += int64(i.Usage.Cached)
	}
	shadow := i.Rewrite != nil && i.Outcome == proxy.Shadow
	count(i.Rewrite == nil, passed)
	count(shadow, unsent)
	if i.Rewrite == nil || shadow || i.Outcome == proxy.Rejected || i.Unsent {
		return
	}
	r := &i.Rewrite.Report
	t.before += int64(r.Before)
	t.after += int64(r.After)
	if r.Before > r.Budget {
		t.tooLong++
	}
	count(r.Repairs > 0, repaired)
	count(r.Outcome == compact.Compacted || i.Outcome == proxy.Retried, folded)
	count(i.Retry != nil && i.Retry.Answered, again)
	count(i.Outcome == proxy.Over, over)
}

// Lines say what the sums are, in a few lines without their ends.
func (t *Tally) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.Requests() == 0:
		return []string{"no request came"}
	case t.read == 0:
		return []string{fmt.Sprintf("no chat request came, %s of other kinds", number.Of(t.Requests()))}
	}
	words := []string{number.Count(t.read, "chat request")}
	for _, end := range ends {
		if n := t.ended[end]; n > 0 {
			words = append(words, number.Of(n)+" "+end)
		}
	}
	lines := []string{strings.Join(words, ", ")}
	if t.before == 0 {
		return lines
	}
	line := fmt.Sprintf("%s tokens of prompt came, %s went on", number.Of(t.before), number.Of(t.after))
	if saved := t.before - t.after; saved > 0 {
		line += fmt.Sprintf(": %s saved (%d %%)", number.Of(saved), saved*100/t.before)
	} else if t.ended[folded] == 0 {
		line += ": nothing had to leave"
	}
	lines = append(lines, line)
	if t.tooLong > 0 {
		lines = append(lines, fmt.Sprintf("%s of the requests would have been above the budget", number.Of(t.tooLong)))
	}
	if t.cached > 0 || t.ended[folded] > 0 && t.prompt > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s prompt tokens came from the provider's cache (%d %%)", number.Of(t.cached), number.Of(t.prompt), t.cached*100/t.prompt))
	}
	return lines
}
