package policy

import (
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/compact/stage"
)

// Entry is a way to compact that people know by name.
type Entry struct {
	// Name is what configuration, headers and logs call it.
	Name string
	// Summary says in one line what it does.
	Summary string
	// KnownFrom names the system whose algorithm and numbers it has; "" for
	// Laconic's own.
	KnownFrom string
	// Claims are the promises it keeps, by their numbers in the package
	// comment of compact, counted from 1.
	Claims []int
	// Options are what New takes.
	Options []stage.Option
	// New makes the policy from its options, a JSON object; empty means
	// defaults. The error is OptionErrors: all that are not known or out of range.
	New func(options []byte) (*compact.Policy, error)
}

// Catalogue are the named policies. Adaptive is folded: it repeats at every turn
// what it decided before, so that the provider's prompt cache keeps hitting.
// The others compact each request as it comes, as the systems do from which
// they are known, with the algorithm, the numbers and the estimate of tokens of
// those; but a call never leaves without its results, instructions and pins
// stay, the newest message stays, and arguments and tools are counted.
//
// What all of them hold a request under is its budget. Where an original has a
// number of its own at which it starts (summary: 12,000 tokens), it starts
// there where the budget is larger.
var Catalogue = []Entry{
	{"adaptive", "the whole ladder, folded: decisions are repeated, so prompt caches keep hitting", "", []int{1, 2, 3, 4, 5, 6, 7, 8}, stage.OptionsOf(adaptive{}), newAdaptive},
	{"elide", "old tool results, then old prose, become markers until the request fits; nothing leaves", "helexa/cortex", faithful, stage.OptionsOf(elideDefaults), newElidePolicy},
	{"turns", "the oldest turns leave whole; the newest that fit stay", "entelix HeadDrop", faithful, stage.OptionsOf(turnsDefaults), newTurnsPolicy},
	{"window", "the last N messages stay, from a user message on; pins survive", "ailoop History/TruncateStrategy", faithful, stage.OptionsOf(windowDefaults), newWindowPolicy},
	{"summary", "instructions, one summary as a system message, the last N messages", "NeoGraph compact_history", faithful, stage.OptionsOf(summaryDefaults), newSummaryPolicy},
	{"layered", "trim results, collapse white space, summarize, drop the oldest", "falai CompactionEngine", faithful, stage.OptionsOf(layeredDefaults), newLayeredPolicy},
}

// faithful are the promises of a policy that has the algorithm of another
// system: untouched, paired, never worse.
var faithful = []int{1, 2, 8}

// Names lists the named policies in order.
func Names() []string {
	names := make([]string, len(Catalogue))
	for i, p := range Catalogue {
		names[i] = p.Name
	}
	return names
}

// New makes the named policy from its options, a JSON object; empty means
// defaults. The policy is the caller's: it may be given pins, say.
func New(name string, options []byte) (*compact.Policy, error) {
	for _, p := range Catalogue {
		if p.Name == name {
			return p.New(options)
		}
	}
	return nil, fmt.Errorf("there is no policy %q; known are %s", name, strings.Join(Names(), ", "))
}

// adaptive has no options of its own: a configuration changes its fields and
// its ladder.
type adaptive struct{}

func newAdaptive(raw []byte) (*compact.Policy, error) {
	if err := stage.ReadOptions("adaptive", &adaptive{}, raw); err != nil {
		return nil, err
	}
	return &compact.Policy{Name: "adaptive", Ladder: stage.Default()}, nil
}

// landNowhere is the Land of policies whose stages know themselves when to
// stop: it is at what must stay, so every stage of the ladder is asked.
const landNowhere = 1e-12

// total is what the request costs now, under landNowhere and before anything
// left that must stay under other policies.
func total(d *compact.Draft) int {
	if over := d.Excess(); over > 0 {
		return d.Budget() + over
	}
	return d.Budget() - d.Room() + d.Over()
}

// costOf is what the exchange [start, end) costs now.
func costOf(d *compact.Draft, c compact.Counter, start, end int) (cost int) {
	for i := start; i < end; i++ {
		cost += compact.Cost(c, d.Message(i))
	}
	return cost
}

// lastFrom is the start of the exchange that holds the nth message from the
// end: what the originals call the last n messages, with no pair cut in two.
func lastFrom(d *compact.Draft, n int) int {
	if d.Messages() <= n {
		return 0
	}
	start, _ := d.Exchange(d.Messages() - n)
	return start
}
