package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"laconic/compact"
	"laconic/proxy/apierror"
)

// mostFacts bounds how many (upstream, model, credential) are remembered; the
// ones used least leave first. Models and credentials are what clients write.
const mostFacts = 4096

// learned is the memory of facts of this process, in front of Facts.
type learned struct {
	p   *Proxy
	all *otter.Cache[FactKey, *lesson]
}

// lesson is what is known under one key.
type lesson struct {
	key      FactKey
	upstream string // for the operator: host and path
	model    string

	mu    sync.Mutex
	told  compact.Told // what the upstream tells of the model, as of the last request
	facts Learnt
	count Calibration // nil: none
	asked time.Time   // when Facts was asked last; zero: never
}

func newLearned(p *Proxy) *learned {
	return &learned{p: p, all: otter.Must(&otter.Options[FactKey, *lesson]{
		MaximumSize: mostFacts, InitialCapacity: 16,
	})}
}

// lesson is the entry of a key, new if need be.
func (l *learned) lesson(key FactKey, route *Route, model string) *lesson {
	if e, ok := l.all.GetIfPresent(key); ok {
		return e
	}
	e := &lesson{key: key, upstream: route.Upstream.Host + route.Upstream.Path, model: strings.Clone(apierror.Clip(model, 128))}
	e, _ = l.all.SetIfAbsent(key, e)
	return e
}

// wasTold notes what the upstream tells.
func (e *lesson) wasTold(told compact.Told) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = told
}

// read is what is known, as of now. The first reader waits for what is kept
// elsewhere, those after it do not.
func (e *lesson) read(p *Proxy) Learnt {
	if e.isFirst(p) {
		ctx, stop := context.WithTimeout(context.Background(), factsWait)
		defer stop()
		e.load(ctx, p)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.facts.at(time.Now())
}

// isFirst reports whether Facts was never asked, and notes that it is now. What
// was asked a while ago is asked again in the background.
func (e *lesson) isFirst(p *Proxy) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	first := p.o.Facts != nil && e.asked.IsZero()
	if first || p.o.Facts != nil && now.Sub(e.asked) > factsFresh && p.background.start(func(ctx context.Context) { e.share(ctx, p) }) {
		e.asked = now
	}
	return first
}

// load takes what is kept elsewhere and was learnt later than what is known.
func (e *lesson) load(ctx context.Context, p *Proxy) (known, kept Learnt) {
	kept, ok := p.o.Facts.Load(ctx, e.key)
	now := time.Now()
	kept = kept.believed(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	if ok {
		before := e.facts.at(now)
		e.facts = before.with(kept, e.count == nil || !e.count.Measured())
		if e.facts.Way != before.Way || e.facts.Percent != before.Percent {
			e.count = nil // it starts anew from what others have measured
		}
	}
	return e.facts, kept
}

// change writes what is known, and tells Facts.
func (e *lesson) change(p *Proxy, f func(now time.Time, l *Learnt)) {
	e.mu.Lock()
	defer e.mu.Unlock() // also when f, which asks a Calibration, panics
	now := time.Now()
	before := e.facts
	next := before.at(now)
	f(now, &next)
	e.facts = next
	if p.o.Facts == nil || next == before {
		return
	}
	e.asked = now
	if !p.background.start(func(ctx context.Context) { e.share(ctx, p) }) {
		e.asked = now.Add(-factsFresh) // a reader sees to it
	}
}

// share takes what other processes have learnt since, and tells Facts what is
// known here. One that was begun is done, also when the proxy ends.
func (e *lesson) share(ctx context.Context, p *Proxy) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*factsWait)
	defer stop()
	if known, kept := e.load(ctx, p); !known.same(kept) {
		p.o.Facts.Save(ctx, e.key, known)
	}
}

// corrected changes the way of counting and its factor by what an upstream
// counted. The lesson's lock is held.
func (t *trip) corrected(now time.Time, l *Learnt, of sizes, add func(Calibration)) {
	e := t.lesson
	from, known := t.wayOf(l)
	if e.count == nil && t.p.o.Calibrate != nil {
		percent := l.Percent
		if !known {
			percent = 0
		}
		e.count = t.p.o.Calibrate(from, percent)
	}
	if e.count == nil {
		return
	}
	if add(e.count); !e.count.Measured() {
		return
	}
	way, percent := min(max(e.count.Way(), 0), len(t.ways)-1), min(max(e.count.Percent(), leastPercent), mostPercent)
	if way != from && of.all[from] > 0 {
		l.Cap, l.Tight = l.Cap*of.all[way]/of.all[from], l.Tight*of.all[way]/of.all[from]
	}
	switch name := t.ways[way].Name; {
	case percent == 100 && len(t.ways) == 1:
		l.Way, l.Percent, l.PercentUntil = "", 0, time.Time{}
	case percent != l.Percent, name != l.Way, l.PercentUntil.Before(now.Add(percentLife - time.Hour)):
		l.Way, l.Percent, l.PercentUntil = name, percent, now.Add(percentLife) // not at every answer: it is stored
	}
}

// known says what was learnt, and what the upstream told of the windows in use, a
// line for each upstream, model and credential.
// A credential is told by the first letters of a keyed hash. What is kept
// elsewhere has no names, so it is listed once somebody asked for it here.
func (p *Proxy) known() string {
	now := time.Now()
	var lines []string
	for _, e := range p.learned.all.All() {
		e.mu.Lock()
		l, told := e.facts.at(now), e.told
		e.mu.Unlock()
		var words []string
		if told.Window > 0 {
			words = append(words, fmt.Sprintf("told a window of %d", told.Window))
		}
		if told.Input > 0 {
			words = append(words, fmt.Sprintf("told a prompt limit of %d", told.Input))
		}
		if l.known() {
			words = append(words, l.words()...)
		}
		if len(words) > 0 {
			lines = append(lines, fmt.Sprintf("%s %q credential %x: %s\n", e.upstream, e.model, e.key[:4], strings.Join(words, ", ")))
		}
	}
	slices.Sort(lines)
	more, elsewhere := "", ""
	if p.o.Facts != nil {
		elsewhere = ", of what was asked for since the start; the store may hold more"
	}
	if n := len(lines) - mostShown; n > 0 {
		lines, more = lines[:mostShown], fmt.Sprintf("and %d more\n", n)
	}
	return fmt.Sprintf("learnt: %d%s\n", len(lines), elsewhere) + strings.Join(lines, "") + more
}

// mostShown bounds a page for people.
const mostShown = 200

// words is what is known, for people.
func (l *Learnt) words() (all []string) {
	add := func(n int, format string) {
		if n != 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	add(l.Window, "window %d")
	add(l.Input, "prompt limit %d")
	add(l.Answer, "answers counted as %d")
	add(l.Messages, "at most %d messages")
	until := func(t time.Time, any bool) {
		if any && !t.IsZero() {
			all = append(all, "until "+t.UTC().Format(time.RFC3339))
		}
	}
	until(l.Until, len(all) > 0)
	add(l.Cap, "prompts above %d not tried")
	add(l.Bytes, "bodies above %d bytes not tried")
	until(l.GuessUntil, l.Cap > 0 || l.Bytes > 0)
	add(l.Hard, "prompts with bound thinking above %d not tried")
	add(l.Cuts.len(), "thinking taken out of %d histories")
	add(l.Took, "prompts of %d answered")
	if l.Way != "" {
		all = append(all, "counts by "+l.Way)
	}
	add(l.Percent, "counts at %d %%")
	if l.Shape != ShapeFull {
		all = append(all, "shape "+l.Shape.String())
	}
	return all
}

// longestWay bounds the name of a way of counting, in bytes.
const longestWay = 64

// believed keeps of a stored value what this process could have written, and
// what of it still holds.
func (l Learnt) believed(now time.Time) Learnt {
	for _, n := range []*int{&l.Window, &l.Input, &l.Messages, &l.Answer, &l.Cap, &l.Tight, &l.Bytes, &l.Doubt, &l.Hard, &l.Took, &l.TookBytes} {
		if *n < 0 || *n > mostBelieved {
			*n = 0
		}
	}
	if l.Percent < leastPercent || l.Percent > mostPercent || len(l.Way) > longestWay {
		l.Way, l.Percent = "", 0
	}
	if l.Shape < ShapeFull || l.Shape > ShapeOriginal {
		l.Shape = ShapeFull
	}
	l.Cuts = l.Cuts.believed(now)
	for _, t := range []struct {
		until *time.Time
		life  time.Duration
	}{{&l.Until, limitLife}, {&l.Since, 0}, {&l.GuessUntil, guessLife}, {&l.HardUntil, limitLife}, {&l.TookUntil, limitLife}, {&l.PercentUntil, percentLife}, {&l.ShapeUntil, shapeLife}} {
		if last := now.Add(t.life); t.until.After(last) {
			*t.until = last // of a clock that is ahead, or of a lie
		}
	}
	return l.at(now)
}

// with takes from k what was learnt later than in l. What is the fruit of one
// refusal stays together. A process that has measured the counter itself keeps
// its own factor.
func (l Learnt) with(k Learnt, percent bool) Learnt {
	if k.Since.After(l.Since) {
		l.Window, l.Input, l.Sums, l.Answer, l.Messages, l.Until, l.Since = k.Window, k.Input, k.Sums, k.Answer, k.Messages, k.Until, k.Since
	}
	if k.GuessUntil.After(l.GuessUntil) {
		l.Cap, l.Tight, l.Bytes, l.Doubt, l.GuessUntil = k.Cap, k.Tight, k.Bytes, k.Doubt, k.GuessUntil
	}
	if k.HardUntil.After(l.HardUntil) {
		l.Hard, l.HardUntil = k.Hard, k.HardUntil
	}
	l.Cuts = l.Cuts.joined(k.Cuts)
	if k.TookUntil.After(l.TookUntil) {
		l.Took, l.TookBytes, l.TookUntil = k.Took, k.TookBytes, k.TookUntil
	}
	if percent && k.PercentUntil.After(l.PercentUntil) {
		l.Way, l.Percent, l.PercentUntil = k.Way, k.Percent, k.PercentUntil
	}
	if k.ShapeUntil.After(l.ShapeUntil) {
		l.Shape, l.ShapeUntil = k.Shape, k.ShapeUntil
	}
	return l
}

// same tells whether two say the same; a time may have been in a text.
func (l Learnt) same(k Learnt) bool {
	for _, t := range []struct{ a, b *time.Time }{{&l.Until, &k.Until}, {&l.Since, &k.Since}, {&l.GuessUntil, &k.GuessUntil}, {&l.HardUntil, &k.HardUntil}, {&l.TookUntil, &k.TookUntil}, {&l.PercentUntil, &k.PercentUntil}, {&l.ShapeUntil, &k.ShapeUntil}} {
		if !t.a.Equal(*t.b) {
			return false
		}
		*t.b = *t.a
	}
	return l == k
}
