package proxy

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"laconic/compact"
	"laconic/proxy/summarize/prompt"
	"laconic/proxy/wire"
	"laconic/store"
)

// headerSummary marks a request that asks for a summary. A Laconic that gets
// one starts none for it: a summarizer that points back here, or two that point
// at each other, stop after one level.
const headerSummary = "X-Laconic-Summary"

// summaries fill the slots of plans. They are made in the background, each gap
// once however many requests need it, and read from the store.
type summaries struct {
	p         *Proxy
	o         *Summarizer
	transport http.RoundTripper
	texts     *otter.Cache[digestKey, string]   // what stood in a slot, framed
	names     *otter.Cache[digestKey, gapNames] // of gaps
	settled   *otter.Cache[digestKey, struct{}] // warm marks that need nothing more
	cooling   *otter.Cache[string, *cool]       // see summaries_cooling.go
	rendering chan struct{}                     // one transcript is rendered at a time
	workers   chan struct{}
	counts    summaryCounts
	bare      atomic.Bool // it refuses a limit or a temperature, and answers without

	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	jobs   map[store.Key]*job
	closed bool
	ended  sync.WaitGroup
}

// rememberedGaps bounds how many gaps a process knows the names of.
const rememberedGaps = 10_000

func newSummaries(p *Proxy, o *Summarizer) *summaries {
	if o == nil {
		return nil
	}
	with := *o
	if with.Timeout == 0 {
		with.Timeout = DefaultSummaryTimeout
	}
	if with.Workers == 0 {
		with.Workers = DefaultSummaryWorkers
	}
	if with.Window == 0 {
		with.Window = compact.DefaultWindow
	}
	s := &summaries{
		p: p, o: &with, transport: with.Transport,
		texts: otter.Must(&otter.Options[digestKey, string]{
			MaximumWeight: digestBytes,
			Weigher:       func(_ digestKey, text string) uint32 { return uint32(len(text)) + 64 },
		}),
		names:     otter.Must(&otter.Options[digestKey, gapNames]{MaximumSize: rememberedGaps}),
		settled:   otter.Must(&otter.Options[digestKey, struct{}]{MaximumSize: rememberedGaps}),
		cooling:   otter.Must(&otter.Options[string, *cool]{MaximumSize: rememberedGaps}),
		rendering: make(chan struct{}, 1),
		workers:   make(chan struct{}, with.Workers),
		jobs:      map[store.Key]*job{},
	}
	if s.transport == nil {
		s.transport = newTransport(&p.o.Limits)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// mostEnding is how long the end of what is being made is waited for. It takes
// no time, but a text that is being counted is counted to its end.
const mostEnding = 5 * time.Second

// close ends what is being made and waits for it.
func (s *summaries) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	ended := make(chan struct{})
	go func() {
		s.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(mostEnding):
	}
	if t, ok := s.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// slotText is the text for the slot of a plan: its summary where there is one,
// else its digest.
func (t *trip) slotText(in compact.Conversation, plan *compact.Plan, info *RewriteInfo) string {
	if s := t.p.summaries; s != nil && plan.Slot != nil {
		var text string
		// A panic in here costs the summary, not the compaction.
		err := t.safely("summary", func() error {
			text, info.Summary = s.fill(t, in, plan)
			return nil
		})
		if err != nil {
			info.Summary = &SummaryInfo{Outcome: SummaryDigest, Reason: "fault"}
		}
		info.Summary.Model = s.o.Model
		if text == "" {
			text = t.digest(in, plan, info)
			if text == "" {
				info.Summary.Outcome = SummaryNone
			}
		}
		s.counts.filled(info.Summary)
		return text
	}
	return t.digest(in, plan, info)
}

// digest is the text for the slot of a plan that a program writes; "" where there
// is no slot.
func (t *trip) digest(in compact.Conversation, plan *compact.Plan, info *RewriteInfo) string {
	return t.p.digests.fill(t.r.Header, info.Policy+t.tag(), t.budget, in, plan)
}

// prepare starts on the summary of the next epoch, once a conversation has
// passed the warm mark.
func (t *trip) prepare(req *wire.Request, plan *compact.Plan, info *RewriteInfo) {
	if s := t.p.summaries; s != nil && info.Outcome != Rejected {
		_ = t.safely("summary", func() error { s.prepare(t, req.Conversation, plan); return nil })
	}
}

func (s *summaries) prepare(t *trip, in compact.Conversation, plan *compact.Plan) {
	if s.unwanted(t) != "" || s.isCooling(s.o.credential(t)) {
		return
	}
	forecast := plan.Forecast()
	if forecast == nil {
		return
	}
	near := s.near(t, in, &compact.Plan{Slot: &compact.Slot{From: -1, To: forecast.Mark, Sources: forecast.Sources}})
	if _, ok := s.settled.GetIfPresent(near); ok {
		return
	}
	if g, ok := s.names.GetIfPresent(near); ok && s.underWay(g.key()) {
		return
	}
	slot := forecast.Slot()
	if slot == nil {
		s.settled.Set(near, struct{}{}) // the ladder will do without
		return
	}
	g := s.gap(t, in, slot, near)
	if j, _ := s.start(t, in, g, slot, false); j != nil {
		j.settles(near)
	}
}

// fill gives the text for a slot and what became of it; "" means the digest.
func (s *summaries) fill(t *trip, in compact.Conversation, plan *compact.Plan) (string, *SummaryInfo) {
	near := s.near(t, in, plan)
	if !t.bound {
		return s.find(t, in, plan, near)
	}
	// What was put in here once is what later thinking is bound to.
	if _, ok := s.settled.GetIfPresent(near); ok {
		return "", &SummaryInfo{Outcome: SummaryDigest, Reason: "bound"}
	}
	text, info := s.find(t, in, plan, near)
	if text == "" {
		s.settled.Set(near, struct{}{})
	}
	return text, info
}

// find gives the summary that fill asks for.
func (s *summaries) find(t *trip, in compact.Conversation, plan *compact.Plan, near digestKey) (string, *SummaryInfo) {
	if text, ok := s.texts.GetIfPresent(near); ok {
		return text, &SummaryInfo{Outcome: SummaryHit}
	}
	slot := plan.Slot
	g := s.gap(t, in, slot, near)
	framed := func(body string) string {
		text := prompt.Text(slot.Label, body, g.messages, slot.Size, costOf(t.counter()))
		if text != "" {
			s.texts.Set(near, text)
		}
		return text
	}
	if body, ok := s.o.Store.Get(t.r.Context(), g.key()); ok {
		if text := framed(body); text != "" {
			return text, &SummaryInfo{Outcome: SummaryHit}
		}
		return "", &SummaryInfo{Outcome: SummaryDigest, Reason: string(prompt.TooLarge)}
	}
	digest := func(why string) (string, *SummaryInfo) {
		return "", &SummaryInfo{Outcome: SummaryDigest, Reason: why}
	}
	if why := s.unwanted(t); why != "" {
		return digest(why)
	}
	most := s.o.Wait
	if t.policy().PerRequest != nil {
		most = s.o.WaitUnfolded
		if most == 0 {
			// Such a policy has another gap at every turn: what is prepared now
			// would never be used.
			return digest("not_folded")
		}
	}
	// One that is sent again was held already, maybe.
	wait := most - t.heldFor
	j, why := s.start(t, in, g, slot, wait > 0)
	if j == nil {
		return digest(why)
	}
	if wait <= 0 {
		return digest("preparing")
	}
	began := time.Now()
	body, why := j.wait(t.r.Context(), wait)
	took := time.Since(began)
	t.heldFor += took
	if text := ""; why == "" {
		if text = framed(body); text != "" {
			return text, &SummaryInfo{Outcome: SummaryMade, Duration: took}
		}
		why = string(prompt.TooLarge)
	}
	return "", &SummaryInfo{Outcome: SummaryDigest, Reason: why, Duration: took}
}

// unwanted says why no summary may be begun for a request; "" where one may.
func (s *summaries) unwanted(t *trip) string {
	switch {
	case t.r.Header.Get(headerSummary) != "":
		return "looped"
	case (t.orders.budget > 0 || t.orders.policy != nil) && !s.o.ClientCredential:
		// Whoever may send headers could else make us pay for any number.
		return "override"
	case t.mode() != ModeOn:
		return "mode"
	}
	return ""
}

// counter counts for the request's model, as its plan did.
func (t *trip) counter() compact.Counter {
	if t.weight != nil {
		return t.weight
	}
	if c := t.policy().Counter; c != nil {
		return c
	}
	return t.facts.Counter(t.route.Counter)
}

// costOf is what a text costs, in tokens.
func costOf(c compact.Counter) func(string) int {
	return func(s string) int { return compact.CostText(c, s) }
}
