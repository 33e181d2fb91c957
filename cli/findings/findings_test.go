package findings

import (
	"strings"
	"testing"

	"laconic/config"
	"laconic/proxy/operate"
	"laconic/proxy/why"
	"laconic/store"
)

// TestFactsBecomeSentences: of each fact one finding is bad, or none, and what is wrong
// has something to do about it.
func TestFactsBecomeSentences(t *testing.T) {
	f := func(facts Facts, check string, s why.State, says string) {
		t.Helper()
		for _, got := range Of(facts) {
			if got.Bad() != (got.Fix != "") {
				t.Errorf("%+v", got)
			}
			if got.Check == check && got.State == s && strings.Contains(got.Says, says) {
				return
			}
		}
		t.Errorf("no %s %s: %s in %+v", s, check, says, Of(facts))
	}
	f(Facts{Config: config.Default()}, "configuration", why.Fine, "no file")
	f(Facts{Config: &config.Config{Upstream: "http://x"}}, "configuration", why.Warning, "chat requests go to http://x/chat/completions")
	f(Facts{Upstreams: []operate.Upstream{{Upstream: "http://x", Down: true, Failures: 3}}}, "upstream", why.Failure, "http://x is down: 3 requests")
	f(Facts{Store: &Store{Where: "there"}}, "store", why.Fine, "no fault (there)")
	f(Facts{Store: &Store{Where: "there", Faults: []store.Fault{{Says: "gone", Fix: "start it"}}}}, "store", why.Warning, "gone (there)")
	if all := Of(Facts{Upstreams: []operate.Upstream{{Upstream: "http://x"}}}); all != nil {
		t.Errorf("nothing is wrong, and nothing else known: %+v", all)
	}

	counted := func(all ...operate.Outcome) Facts {
		return Facts{Outcomes: all, Sum: func(string, string) float64 { return 0 }}
	}
	f(counted(), "requests", why.Unknown, "no chat request")
	f(counted(operate.Outcome{Outcome: "untouched", Requests: 3}), "requests", why.Fine, "3, none of them over")
	f(counted(operate.Outcome{Outcome: "over", Requests: 83, Why: why.Reason{Says: "it is long", Fix: "cut"}}, operate.Outcome{Outcome: "compacted", Requests: 540}),
		"requests", why.Warning, "83 of 623 requests: over; the last because it is long")
	both := counted(operate.Outcome{Outcome: "cut", Requests: 2, Why: why.Reason{Says: "it read 4"}}, operate.Outcome{Outcome: "over", Requests: 3, Why: why.Reason{Says: "it is long"}})
	f(both, "requests", why.Warning, "2 of 3 requests: cut; the last because it read 4")
	f(both, "requests", why.Warning, "3 of 3 requests: over; the last because it is long")
	f(counted(operate.Outcome{Outcome: "refused", Requests: 1, Why: why.Reason{Says: "it was too long"}}), "requests", why.Warning, "1 of 1 request: refused; the last because it was too long")
	for _, outcome := range []string{"retried", "repaired"} {
		facts := counted(operate.Outcome{Outcome: outcome, Requests: 2, Why: why.Reason{Says: "it was so"}})
		f(facts, "requests", why.Fine, "2 of 2 requests: "+outcome+"; the last because it was so")
		f(facts, "requests", why.Fine, "2, none of them over, cut, passed, rejected or refused")
	}

	const told, sent, cached = "laconic_upstream_prompt_tokens_total", "laconic_tokens_sent_total", "laconic_upstream_cached_tokens_total"
	traffic := func(samples ...any) Facts {
		return Facts{Sum: func(metric, outcome string) (n float64) {
			for i := 0; i < len(samples); i += 3 {
				if samples[i] == metric && (outcome == "" || samples[i+1] == outcome) {
					n += float64(samples[i+2].(int))
				}
			}
			return n
		}}
	}
	f(traffic(), "counts", why.Unknown, "too little usage")
	f(traffic(told, "untouched", 10000, sent, "untouched", 10100), "counts", why.Fine, "10000 tokens of prompt where we counted 10100")
	f(traffic(told, "untouched", 13000, sent, "untouched", 10000), "counts", why.Warning, "13000")
	f(traffic(told, "untouched", 10000, sent, "untouched", 10000, told, "retried", 4000, sent, "retried", 90000), "counts", why.Fine, "10000")
	f(traffic(told, "untouched", 3000, sent, "untouched", 10000), "counts", why.Warning, "3000")

	f(traffic(), "tools", why.Unknown, "no chat request")
	f(traffic("laconic_tokens_floor_total", "", 39, "laconic_tokens_budget_total", "", 100), "tools", why.Fine, "39 %")
	f(traffic("laconic_tokens_floor_total", "", 41, "laconic_tokens_budget_total", "", 100), "tools", why.Warning, "41 %")

	cache := func(plain, folded int) Facts {
		return traffic(told, "untouched", 10000, told, "compacted", 10000, cached, "untouched", plain, cached, "compacted", folded)
	}
	f(cache(0, 0), "cache", why.Unknown, "no answer told")
	f(cache(9000, 7000), "cache", why.Fine, "90 % of untouched prompts, 70 % of compacted")
	f(cache(9000, 2000), "cache", why.Warning, "20 % of compacted")
}
