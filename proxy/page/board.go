package page

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/why"
)

// Board is what went wrong in the requests that are kept, and how fast they go.
type Board struct {
	// Of is the replica that it shows; "": there are no others.
	Of      string    `json:"of,omitempty"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"` // when the first of them came
	All     BoardLine `json:"all"`
	// Models and Keys are the same by model and by who sent it, the most first.
	Models []BoardLine  `json:"models"`
	Keys   []BoardLine  `json:"keys"`
	Faults []BoardFault `json:"faults"`
	// Down are the upstreams that do not answer, Store is what is wrong with the store.
	Down  []why.Finding `json:"down"`
	Store *why.Finding  `json:"store,omitempty"`
}

// BoardLine sums requests that are over.
type BoardLine struct {
	Name     string `json:"name,omitempty"`
	Requests int    `json:"requests"`
	Errors   int    `json:"errors"`
	Over     int    `json:"over"` // went out above their budget
	Cut      int    `json:"cut"`  // their prompt or their answer
	// Prompt and Cached are as answers say that state both, in tokens.
	Prompt int `json:"prompt"`
	Cached int `json:"cached"`
	// PerMinute is the rate of the last rateTime. Median and Slow are the times to the
	// first byte, in milliseconds, that half and 95 of 100 answers took at most.
	PerMinute float64 `json:"per_minute"`
	Median    int64   `json:"median_ms"`
	Slow      int64   `json:"slow_ms"`

	lately int
	took   []int64
}

// BoardFault is one way in which requests went wrong, by its newest request.
type BoardFault struct {
	What     string    `json:"what"`         // error, over or cut
	Of       string    `json:"of,omitempty"` // the code or the status of an error
	Requests int       `json:"requests"`
	Says     string    `json:"says"` // how many there were, in words
	ID       string    `json:"id"`
	Last     time.Time `json:"last"`
	Why      string    `json:"why"`
}

const (
	// rateTime is the time that a rate is of.
	rateTime = 5 * time.Minute
	// mostBoardLines bounds the models, the keys and the faults.
	mostBoardLines = 12
)

// faults are the ways to go wrong, the worst first, and faultWords say them.
var (
	faults     = []string{"error", "over", "cut"}
	faultWords = map[string]string{"error": "failed", "over": "went out above the budget", "cut": "had a prompt or an answer cut short"}
)

// wrong returns the ways in which a request went wrong.
func (r *request) wrong() (all []string) {
	i := &r.reply
	if i.Status != proxy.StatusClientLeft && (i.Status >= 400 || i.Code != "") {
		all = append(all, "error")
	}
	if i.Outcome == proxy.Over {
		all = append(all, "over")
	}
	if i.Cut || i.Ended != "" {
		all = append(all, "cut")
	}
	return all
}

// add counts a request.
func (l *BoardLine) add(r *request, wrong []string, now time.Time) {
	l.Requests++
	for _, what := range wrong {
		*map[string]*int{"error": &l.Errors, "over": &l.Over, "cut": &l.Cut}[what]++
	}
	if u := r.reply.Usage; u != nil && u.CacheStated {
		l.Prompt += u.Prompt
		l.Cached += u.Cached
	}
	if now.Sub(r.began) < rateTime {
		l.lately++
	}
	if r.reply.Status == http.StatusOK && r.reply.FirstByte > 0 {
		l.took = append(l.took, r.reply.FirstByte.Milliseconds())
	}
}

// finish works out what follows from the sums. ran is how long the page is there.
func (l *BoardLine) finish(ran time.Duration) {
	l.PerMinute = float64(l.lately) / min(max(ran, time.Minute), rateTime).Minutes()
	if n := len(l.took); n > 0 {
		slices.Sort(l.took)
		l.Median, l.Slow = l.took[n/2], l.took[n*95/100]
	}
}

// Board returns what went wrong so far: the sums of the requests that are kept. It is what
// the page shows first.
func (p *Page) Board() Board {
	b, now := Board{Of: p.o.Replica, Version: p.o.Version, Since: p.began}, time.Now()
	for _, u := range p.o.Proxy().State().Upstreams { // asked first: who answers may wait for mu
		if u.Down {
			b.Down = append(b.Down, u.Wrong())
		}
	}
	stored := p.o.Store()
	if i := slices.IndexFunc(stored, why.Finding.Bad); i >= 0 {
		b.Store = &stored[i]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) == mostRequests || p.size > mostBytes/2 {
		b.Since = p.requests[0].began
	}
	models, keys := map[string]*BoardLine{}, map[string]*BoardLine{}
	count := func(lines map[string]*BoardLine, name string, r *request, wrong []string) {
		if lines[name] == nil {
			lines[name] = &BoardLine{Name: name}
		}
		lines[name].add(r, wrong, now)
	}
	for _, r := range p.requests {
		if r.room == 0 {
			continue
		}
		wrong := r.wrong()
		b.All.add(r, wrong, now)
		if i := r.reply.Rewrite; i != nil && i.Model != "" {
			count(models, i.Model, r, wrong)
		}
		if name := r.client(); name != "" {
			count(keys, name, r, wrong)
		}
		for _, what := range wrong {
			of := ""
			if what == "error" {
				of = cmp.Or(r.reply.Code, strconv.Itoa(r.reply.Status))
			}
			i := slices.IndexFunc(b.Faults, func(f BoardFault) bool { return f.What == what && f.Of == of })
			if i < 0 {
				i = len(b.Faults)
				b.Faults = append(b.Faults, BoardFault{What: what, Of: of})
			}
			f := &b.Faults[i]
			f.Requests, f.ID, f.Last, f.Why = f.Requests+1, r.id, r.began, r.why()
			if what == "cut" {
				f.Why = cmp.Or(r.reply.CutShort().String(), f.Why)
			}
		}
	}
	slices.SortStableFunc(b.Faults, func(a, b BoardFault) int {
		return cmp.Or(slices.Index(faults, a.What)-slices.Index(faults, b.What), b.Requests-a.Requests)
	})
	b.Faults = b.Faults[:min(len(b.Faults), mostBoardLines)]
	for i, f := range b.Faults {
		b.Faults[i].Says = number.Count(f.Requests, "request") + " " + faultWords[f.What]
	}
	ran := now.Sub(p.began)
	b.All.finish(ran)
	b.Models, b.Keys = sorted(models, ran), sorted(keys, ran)
	return b
}

// sorted returns lines by how many requests they are of.
func sorted(lines map[string]*BoardLine, ran time.Duration) []BoardLine {
	all := make([]BoardLine, 0, len(lines))
	for _, l := range lines {
		l.finish(ran)
		all = append(all, *l)
	}
	slices.SortFunc(all, func(a, b BoardLine) int {
		return cmp.Or(b.Requests-a.Requests, strings.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), mostBoardLines)]
}

// BoardPath is where the admin listener has the board, for programs.
const BoardPath = "/page/api/board"
