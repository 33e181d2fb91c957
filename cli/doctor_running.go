package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"laconic/cli/counting"
)

// countingFor is how the commands count.
var countingFor = counting.For

const (
	// mostFloor is the share of a budget, in percent, above which tools and
	// instructions leave too little for the conversation.
	mostFloor = 40
	// fewTokens are too few to judge by.
	fewTokens = 1000
)

// sample is a line of /metrics.
type sample struct {
	name, labels string
	value        float64
}

// running returns the metrics of the proxy that runs on the admin address, or why
// there are none.
func (p *patient) running(ctx context.Context) ([]sample, string) {
	if p.Admin == "" {
		return nil, "admin is off, so that nobody tells what the proxy sees"
	}
	none := "no running proxy at " + clientAddress(p.Admin)
	ctx, stop := context.WithTimeout(ctx, doctorTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+clientAddress(p.Admin)+"/metrics", nil)
	if err != nil {
		return nil, none
	}
	if p.AdminToken != "" {
		r.Header.Set("Authorization", "Bearer "+string(p.AdminToken))
	}
	res, err := p.client.Do(r)
	if err != nil {
		return nil, none
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Sprintf("%s answers %d to GET /metrics", clientAddress(p.Admin), res.StatusCode)
	}
	var all []sample
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		if at < 0 {
			continue
		}
		name, labels, _ := strings.Cut(line[:at], "{")
		if v, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64); err == nil {
			all = append(all, sample{name, labels, v})
		}
	}
	return all, ""
}

// sum adds the samples of a name whose labels hold some text.
func sum(all []sample, name, labels string) (n float64) {
	for _, s := range all {
		if s.name == name && strings.Contains(s.labels, labels) {
			n += s.value
		}
	}
	return n
}

// fromTraffic is a check of what a running proxy has seen.
func fromTraffic(judge func(all []sample) finding) func(context.Context, *patient) []finding {
	return func(ctx context.Context, p *patient) []finding {
		all, why := p.running(ctx)
		if why != "" {
			return []finding{{State: unknown, Says: why}}
		}
		return []finding{judge(all)}
	}
}

var checkCounts = fromTraffic(func(all []sample) finding {
	count := func(name string) float64 { // of a second send, two bodies were sent, and one was counted
		return sum(all, name, "") - sum(all, name, `outcome="retried"`)
	}
	told, sent := count("laconic_upstream_prompt_tokens_total"), count("laconic_tokens_sent_total")
	if told < fewTokens || sent < fewTokens {
		return finding{State: unknown, Says: "too little usage was told yet to compare our counts with"}
	}
	words := fmt.Sprintf("upstreams counted %.0f tokens of prompt where we counted %.0f", told, sent)
	switch ratio := told / sent; {
	case ratio > 1.15:
		return finding{State: warning, Says: words, Fix: "name the tokenizer of the model in its row (tokenizer: bytes/3, or the one of its family)"}
	case ratio < 0.7:
		return finding{State: warning, Says: words, Fix: "have clients ask for usage in streams (stream_options: {include_usage: true}); if they do, name the tokenizer of the model in its row"}
	}
	return finding{State: fine, Says: words}
})

var checkTools = fromTraffic(func(all []sample) finding {
	floor, budget := sum(all, "laconic_tokens_floor_total", ""), sum(all, "laconic_tokens_budget_total", "")
	if budget == 0 {
		return finding{State: unknown, Says: "no chat request was measured yet"}
	}
	share := 100 * floor / budget
	words := fmt.Sprintf("tools and instructions take %.0f %% of the budget", share)
	if share > mostFloor {
		return finding{State: warning, Says: words + ", and cannot be compacted", Fix: "switch off tools and MCP servers that the agent does not need, or serve the model with a larger window"}
	}
	return finding{State: fine, Says: words}
})

// fallOf compares the cache reads of the newest answers of an outcome with those
// before, and reports whether they fell by more than half.
func fallOf(all []sample, outcome string) (finding, bool) {
	of := func(name string) float64 { return sum(all, name, `outcome="`+outcome+`"`) }
	prompt, cached := of("laconic_upstream_recent_prompt_tokens"), of("laconic_upstream_recent_cached_tokens")
	before, cachedBefore := of("laconic_upstream_prompt_tokens_total")-prompt, of("laconic_upstream_cached_tokens_total")-cached
	if prompt < fewTokens || before < fewTokens || cached/prompt >= cachedBefore/before/2 {
		return finding{}, false
	}
	return finding{
		State: warning,
		Says:  fmt.Sprintf("cache reads of %s prompts fell: %.0f %% of the newest answers' prompts, %.0f %% of those before", outcome, 100*cached/prompt, 100*cachedBefore/before),
		Fix:   "look for what changed: a client with a time stamp in its instructions, a row of models or a policy with another budget, another provider or replica behind the upstream",
	}, true
}

var checkCache = fromTraffic(func(all []sample) finding {
	share := func(outcome string) (cached, prompt float64) {
		return sum(all, "laconic_upstream_cached_tokens_total", `outcome="`+outcome+`"`), sum(all, "laconic_upstream_prompt_tokens_total", `outcome="`+outcome+`"`)
	}
	plain, plainAll := share("untouched")
	folded, foldedAll := share("compacted")
	for _, outcome := range []string{"untouched", "compacted"} {
		if f, fell := fallOf(all, outcome); fell {
			return f
		}
	}
	switch {
	case plain+folded == 0:
		return finding{State: unknown, Says: "no answer told of cache reads"}
	case plainAll < fewTokens || foldedAll < fewTokens:
		return finding{State: unknown, Says: "too little was sent yet, compacted and untouched, to compare cache reads"}
	}
	words := fmt.Sprintf("the cache served %.0f %% of untouched prompts, %.0f %% of compacted ones", 100*plain/plainAll, 100*folded/foldedAll)
	if folded/foldedAll < plain/plainAll/2 {
		return finding{State: warning, Says: words, Fix: "land lower, so that there are fewer epochs (policies.NAME.land), and look for a client that changes the beginning of its history"}
	}
	return finding{State: fine, Says: words}
})
