package plan

import (
	"cmp"
	"iter"
	"slices"

	"laconic/compact"
	"laconic/compact/handover"
	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// Way is one way in which an upstream may count.
type Way struct {
	Name    string // the same in every process
	Counter compact.Counter
}

// Guessing is the Counter of a model whose tokenizer may be a guess. A Counter may be
// one, but need not.
type Guessing interface {
	compact.Counter
	// Ways are the ways in which the upstream may count, with their names; the first
	// is the counter itself. None where its tokenizer is known.
	Ways() iter.Seq2[string, compact.Counter]
	// Careful is the factor, in percent, on the first way where a prompt that is
	// too long may be cut without a word.
	Careful() int
	// Serving is the counter of the model that the upstream says it runs; nil: this one.
	Serving(runs compact.Runs) compact.Counter
}

// Summing is a Counter that remembers what whole messages cost, by the sum of their
// bytes, which all its ways take alike. A Counter may be one, but need not.
type Summing interface {
	compact.Rememberer
	// Sum returns the sum of a message, from the bytes that the client sent.
	Sum(raw string) compact.Sum
}

// Terms are what a request may cost and how it is shortened. They are set once.
type Terms struct {
	// Policy is that of the request, with the client's pins.
	Policy *compact.Policy
	// Limits are configured or published. Stated: their window is, and is no guess.
	Limits compact.Limits
	Stated bool
	Agent  handover.Agent // asks for a summary of its history, if any does
	// Counter counts for the model.
	Counter compact.Counter
	// Chosen: somebody chose the tokenizer, so there is one way of counting.
	Chosen bool
	// Always and Never are the demands that a list meets, and does not, whatever is learnt.
	Always, Never compact.Demands
	// Learnt holds what is known of conversations, Known of the model, and Counts of
	// requests with the same tools.
	Learnt        *learn.Memory
	Known, Counts *learn.Model
	// SetRecords sets how the records of a plan are made, once it is known how they are
	// counted.
	SetRecords func(*Plan, *compact.Policy)
	// Left reports whether nobody waits for the plan any more. It is then made no
	// further than to the next epoch.
	Left func() bool

	// Facts are those of the model, as they were read.
	Facts learn.Facts

	asked  int // tokens of answer that the request asks for; 0: it does not say
	ways   []Way
	plain  int    // the first of them, which leave nothing out
	before []Way  // those of the name of the model, of which the upstream may say that it runs another
	begins string // see beginning; "": it is not known yet
}

// WaysOf returns the ways of counting of a counter, one at least. The first plain of them leave nothing out. chosen: it
// counts by a tokenizer that somebody chose, and that is the only one.
func WaysOf(c compact.Counter, chosen bool) (ways []Way, plain int) {
	if g, ok := c.(Guessing); ok && !chosen {
		for name, way := range g.Ways() {
			ways = append(ways, Way{name, way})
		}
	}
	if len(ways) == 0 {
		ways = []Way{{Counter: c}}
	}
	if plain = len(ways); !chosen && !c.Exact() {
		for _, l := range omissions { // each way with what a template may leave out
			ways = append(ways, l.of(ways[:plain])...)
		}
	}
	return ways, plain
}

// For completes the terms of a request by what is learnt of its model and what its
// upstream publishes. refuses: the upstream is known to refuse what is too long.
// budget is the one that the client asks for; 0: none.
func (t *Terms) For(req *wire.Request, published compact.Published, refuses bool, budget int) {
	t.asked = req.MaxTokens
	t.ways, t.plain = WaysOf(t.Counter, t.Chosen)
	if g, ok := t.Counter.(Guessing); ok && !t.Chosen {
		if c := g.Serving(published.Runs); c != nil {
			t.Counter, t.before = c, t.ways
			t.ways, t.plain = WaysOf(c, false)
		}
	}
	if published.NoCalls && len(t.ways) > t.plain {
		// Short prompts on such a template are below what a plain way is measured from,
		// and all that is known of them would be the lowest factor on one.
		t.ways = noCalls.of(t.ways[:t.plain])
	}
	facts := t.Known.Facts()
	facts.Count = t.Counts.Facts().Count
	t.Known.Published(published)
	t.Facts = t.counting(facts, published, refuses || facts.Refuses())
	if s, ok := t.Counter.(Summing); ok && t.Facts.Percent() == 100 && !t.ownCounter() {
		req.Sum(s.Sum)
	}
	t.Stated = t.Stated || published.Window > 0
	t.Limits = t.Limits.With(published).Under(req.Conversation.Rules)
	if w := facts.Window.Value; w > t.Limits.Window && !t.Stated {
		t.Limits.Window = w // the upstream's own word against a guess by the name
	}
	if facts.Larger.Value && !t.Stated {
		t.Limits.Window = max(t.Limits.Window, compact.DefaultWindow)
	}
	t.Limits.Budget = cmp.Or(budget, t.Limits.Budget)
}

// ownCounter reports whether the policy counts by a counter of its own: it is
// known by its numbers, and nothing corrects them.
func (t *Terms) ownCounter() bool { return t.Policy.Counter != nil }

// WayOf returns the counter of the way by which f counts, the first where it names
// none.
func (t *Terms) WayOf(f *learn.Facts) compact.Counter { return wayOf(t.ways, f) }

func wayOf(ways []Way, f *learn.Facts) compact.Counter {
	return ways[max(0, slices.IndexFunc(ways, func(w Way) bool { return w.Name == f.Count.Value.Way }))].Counter
}

// Accepts returns the longest prompt that the upstream takes under facts, as far as is
// known.
func (t *Terms) Accepts(f *learn.Facts) int { return f.Accepts(t.Limits, t.asked) }

// counting returns f with the way and the factor that hold until answers have
// shown how the upstream counts: the first way, without what the upstream says that
// its template leaves out.
func (t *Terms) counting(f learn.Facts, published compact.Published, refuses bool) learn.Facts {
	known := slices.ContainsFunc(t.ways, func(w Way) bool { return w.Name == f.Count.Value.Way })
	if f.Count.Value.Percent != 0 && known {
		return f
	}
	way := t.ways[0].Name
	if published.NoTools && len(t.ways) > t.plain {
		way = noTools.name(way)
	}
	f.Count = learn.Fact[learn.Count]{Value: learn.Count{Way: way}}
	if g, ok := t.ways[0].Counter.(Guessing); ok && !refuses && g.Careful() != 100 {
		f.Count.Value.Percent = g.Careful()
	}
	return f
}
