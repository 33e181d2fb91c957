// Package findings says what is wrong with a set-up, and what to do about it. It turns facts
// that others gather into sentences. laconic check, laconic doctor, /readyz?verbose and the
// page read them.
package findings

import (
	"cmp"
	"fmt"

	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/operate"
	"laconic/proxy/why"
	"laconic/store"
)

// Facts are what is known of a set-up; nil is unknown.
type Facts struct {
	Config    *config.Config // a valid one
	Store     *Store
	Upstreams []operate.Upstream // that requests went to
	Outcomes  []operate.Outcome  // of requests; nil where no proxy runs
	// Running is which program runs, with which configuration.
	Running string
	// Sum returns the sum of a metric's samples, of one outcome or of all ("").
	Sum func(metric, outcome string) float64
}

// Store is how a store is that outlives the process.
type Store struct {
	Where  string
	Faults []store.Fault
}

// Of returns the findings of the facts, and none of an unknown one.
func Of(f Facts) (all []why.Finding) {
	add := func(check string, found []why.Finding) {
		for _, one := range found {
			one.Check = check
			all = append(all, one)
		}
	}
	if f.Config != nil {
		add("configuration", ofConfig(f.Config))
	}
	if f.Running != "" {
		add("running", one(why.Fine, f.Running, ""))
	}
	add("upstream", ofUpstreams(f.Upstreams))
	if f.Store != nil {
		add("store", ofStore(f.Store))
	}
	if f.Sum != nil {
		add("requests", ofRequests(f.Outcomes))
		add("counts", ofCounts(f.Sum))
		add("tools", ofTools(f.Sum))
		add("cache", ofCache(f.Sum))
	}
	return all
}

func ofConfig(c *config.Config) []why.Finding {
	switch hints := c.Hints(); {
	case hints != nil:
		return hints
	case c.File != "":
		return one(why.Fine, c.File+" is valid", "")
	}
	return one(why.Fine, "no file, every setting has its default", "")
}

func ofUpstreams(upstreams []operate.Upstream) (all []why.Finding) {
	for _, u := range upstreams {
		if u.Down {
			all = append(all, u.Wrong())
		}
	}
	return all
}

func ofStore(s *Store) (all []why.Finding) {
	at := " (" + s.Where + ")"
	for _, fault := range s.Faults {
		all = append(all, why.Finding{State: why.Warning, Says: fault.Says + at, Fix: fault.Fix})
	}
	if all == nil {
		return one(why.Fine, "no fault"+at, "")
	}
	return all
}

const (
	// mostFloor is the share of a budget, in percent, above which tools and
	// instructions leave too little for the conversation.
	mostFloor = 40
	// fewTokens are too few to judge by.
	fewTokens = 1000
)

func one(s why.State, says, fix string) []why.Finding {
	return []why.Finding{{State: s, Says: says, Fix: fix}}
}

// ofRequests returns how many requests were not simply answered, and why the last of
// each kind was not.
func ofRequests(outcomes []operate.Outcome) (all []why.Finding) {
	total, bad := 0, false
	for _, o := range outcomes {
		if o.Outcome != operate.Cut { // each has an outcome, too
			total += o.Requests
		}
	}
	for _, o := range outcomes {
		one := why.Finding{State: why.Warning, Says: fmt.Sprintf("%d of %s: %s", o.Requests, number.Count(total, "request"), o.Outcome), Fix: cmp.Or(o.Why.Fix, "see the field why in the log")}
		switch o.Outcome {
		case string(proxy.Over), string(proxy.Rejected), string(proxy.Passed), string(proxy.Refused), operate.Cut:
			bad = true
		case string(proxy.Retried), string(proxy.Repaired): // and answered
			one.State, one.Fix = why.Fine, o.Why.Fix
		default:
			continue
		}
		if o.Why.Says != "" {
			one.Says += "; the last because " + o.Why.Says
		}
		all = append(all, one)
	}
	switch {
	case total == 0:
		return one(why.Unknown, "no chat request is over yet", "")
	case !bad:
		return append(one(why.Fine, fmt.Sprintf("%d, none of them over, cut, passed, rejected or refused", total), ""), all...)
	}
	return all
}

func ofCounts(sum func(metric, outcome string) float64) []why.Finding {
	once := func(name string) float64 { // those that were sent twice are counted once at most
		return sum(name, "") - sum(name, "retried") - sum(name, "refused")
	}
	billed, sent := once("laconic_upstream_prompt_tokens_total"), once("laconic_tokens_sent_total")
	words := fmt.Sprintf("upstreams counted %.0f tokens of prompt where we counted %.0f", billed, sent)
	switch {
	case billed < fewTokens || sent < fewTokens:
		return one(why.Unknown, "too little usage was told yet to compare our counts with", "")
	case billed/sent > 1.15:
		return one(why.Warning, words, "name the tokenizer of the model in its row (tokenizer: bytes/3, or the one of its family)")
	case billed/sent < 0.7:
		return one(why.Warning, words, "have clients ask for usage in streams (stream_options: {include_usage: true}); if they do, name the tokenizer of the model in its row")
	}
	return one(why.Fine, words, "")
}

func ofTools(sum func(metric, outcome string) float64) []why.Finding {
	floor, budget := sum("laconic_tokens_floor_total", ""), sum("laconic_tokens_budget_total", "")
	if budget == 0 {
		return one(why.Unknown, "no chat request was measured yet", "")
	}
	share := 100 * floor / budget
	words := fmt.Sprintf("tools and instructions take %.0f %% of the budget", share)
	if share > mostFloor {
		return one(why.Warning, words+", and cannot be compacted", "switch off tools and MCP servers that the agent does not need, or serve the model with a larger window")
	}
	return one(why.Fine, words, "")
}

func ofCache(sum func(metric, outcome string) float64) []why.Finding {
	prompts := func(outcome string) (tokens, cached, share float64) {
		tokens, cached = sum("laconic_upstream_prompt_tokens_total", outcome), sum("laconic_upstream_cached_tokens_total", outcome)
		return tokens, cached, 100 * cached / tokens
	}
	untouched, fromCache, plain := prompts("untouched")
	compacted, more, folded := prompts("compacted")
	words := fmt.Sprintf("the cache served %.0f %% of untouched prompts, %.0f %% of compacted ones", plain, folded)
	switch {
	case fromCache+more == 0:
		return one(why.Unknown, "no answer told of cache reads", "")
	case min(untouched, compacted) < fewTokens:
		return one(why.Unknown, "too little was sent yet, compacted and untouched, to compare cache reads", "")
	case folded < plain/2:
		return one(why.Warning, words, "land lower, so that there are fewer epochs (policies.NAME.land), and look for a client that changes the beginning of its history")
	}
	return one(why.Fine, words, "")
}
