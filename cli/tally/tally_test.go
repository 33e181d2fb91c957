package tally

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

func TestLines(t *testing.T) {
	f := func(want string, replies ...proxy.ReplyInfo) {
		t.Helper()
		var all Tally
		replied := all.Listener().Replied
		for _, i := range replies {
			replied(i)
		}
		if got := strings.Join(all.Lines(), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	chat := func(o proxy.Outcome, before, after int, change func(*proxy.ReplyInfo)) proxy.ReplyInfo {
		i := proxy.ReplyInfo{Wire: "chat", Status: 200, Outcome: o, Rewrite: &proxy.RewriteInfo{
			Report: compact.Report{Outcome: compact.Outcome(o), Before: before, After: after, Budget: 10_000},
		}}
		if change != nil {
			change(&i)
		}
		return i
	}
	f("no request came")
	f("no chat request came, 1 of other kinds", proxy.ReplyInfo{Status: 200})
	f("1 chat request, 1 passed unread", proxy.ReplyInfo{Wire: "chat", Status: 200, Outcome: proxy.Passed, Passed: "route"})
	f("1 chat request\n900 tokens of prompt came, 900 went on: nothing had to leave", chat(proxy.Untouched, 900, 900, nil))
	f("2 chat requests, 1 compacted, 1 with tool calls repaired\n21,000 tokens of prompt came, 6,000 went on: 15,000 saved (71 %)\n"+
		"1 of the requests would have been above the budget\n4,000 of 6,000 prompt tokens came from the provider's cache (66 %)",
		chat(proxy.Untouched, 1000, 1000, func(i *proxy.ReplyInfo) { i.Usage = &wire.Usage{Prompt: 1000, CacheStated: true} }),
		chat(proxy.Compacted, 20_000, 5000, func(i *proxy.ReplyInfo) {
			i.Usage = &wire.Usage{Prompt: 5000, Cached: 4000, CacheStated: true}
			i.Rewrite.Report.Repairs = 2
		}))
	// Tokens of measured or refused requests are not saved.
	f("2 chat requests, 1 only measured, 1 failed", chat(proxy.Shadow, 20_000, 5000, nil), chat(proxy.Rejected, 20_000, 12_000, func(i *proxy.ReplyInfo) { i.Status = 400 }))
	f("1 chat request, 1 failed", chat(proxy.Compacted, 20_000, 5000, func(i *proxy.ReplyInfo) { i.Status, i.Unsent = 502, true }))
	// Not every upstream tells of a cache.
	f("1 chat request, 1 compacted\n20,000 tokens of prompt came, 5,000 went on: 15,000 saved (75 %)\n1 of the requests would have been above the budget",
		chat(proxy.Compacted, 20_000, 5000, func(i *proxy.ReplyInfo) { i.Usage = &wire.Usage{Prompt: 5000} }))
	f("2 chat requests, 1 compacted, 1 sent again after a refusal, 1 still over budget\n40,000 tokens of prompt came, 16,000 went on: 24,000 saved (60 %)\n2 of the requests would have been above the budget",
		chat(proxy.Retried, 20_000, 4000, func(i *proxy.ReplyInfo) { i.Retry = &proxy.RetryInfo{Refusal: why.Refusal{Answered: true}} }),
		chat(proxy.Over, 20_000, 12_000, nil))
}
