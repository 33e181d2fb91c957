// Package policy is the catalogue of named policies: the adaptive one, which is
// Laconic's own, and those of five other systems. [New] returns one by its name.
//
// The adaptive policy folds: it repeats at every turn what it decided before, so
// that the provider's prompt cache keeps hitting. The others compact each request
// anew. They have the algorithm, the numbers and the token estimate of their
// originals, and are legal all the same: a call never leaves without its results;
// instructions, pins and the newest message stay; arguments and tools are counted.
//
// Every policy holds a request under its budget. An original that starts at a
// number of its own (summary: 12,000 tokens) starts there if the budget is
// larger.
package policy

import (
	"fmt"
	"slices"
	"strings"

	"laconic/compact"
	"laconic/compact/stage"
)

// Entry describes one policy of the catalogue.
type Entry struct {
	// Name is the policy's name in the configuration, in headers and in logs.
	Name string
	// Claims names the promises of package compact that the policy keeps.
	Claims []string
	// Options lists what New accepts.
	Options []stage.Option
	// New returns the policy for options, a JSON object; nil means defaults. The
	// error is a stage.OptionErrors.
	New func(options []byte) (*compact.Policy, error)
}

// Catalogue lists the named policies.
var Catalogue = []Entry{
	// A configuration changes the fields of the adaptive policy and its ladder.
	entry("adaptive", allPromises, struct{}{}, func(struct{}) *compact.Policy { return &compact.Policy{Ladder: stage.Default()} }),
	entry("elide", faithful, elide{Keep: 4, MinBytes: 256}, elide.policy),
	entry("turns", faithful, turns{CharsPerToken: 4}, turns.policy),
	entry("window", faithful, window{Keep: 4}, window.policy),
	entry("summary", faithful, summary{Start: 12_000, Keep: 6, MaxTokens: 500}, summary.policy),
	entry("layered", faithful, layered{Threshold: 0.8, Keep: 10, MaxChars: 5000}, layered.policy),
}

// What a policy claims. The policies of other systems are untouched, paired and
// never worse.
var (
	allPromises = []string{"untouched", "paired", "fits", "kept", "stable", "stateless", "idempotent", "never worse"}
	faithful    = []string{"untouched", "paired", "never worse"}
)

// entry returns the entry of a policy that is made from options.
func entry[O any](name string, claims []string, defaults O, made func(O) *compact.Policy) Entry {
	return Entry{name, claims, stage.OptionsOf(defaults), func(raw []byte) (*compact.Policy, error) {
		o := defaults
		if err := stage.ReadOptions(name, &o, raw); err != nil {
			return nil, err
		}
		p := made(o)
		p.Name = name
		return p, nil
	}}
}

// Names returns the names of the catalogue, in order.
func Names() []string {
	names := make([]string, len(Catalogue))
	for i, p := range Catalogue {
		names[i] = p.Name
	}
	return names
}

// New returns the named policy for options, a JSON object; nil means defaults.
// The caller owns the policy and may change it.
func New(name string, options []byte) (*compact.Policy, error) {
	if p := Named(name); p.New != nil {
		return p.New(options)
	}
	return nil, fmt.Errorf("there is no policy %q; known are %s", name, strings.Join(Names(), ", "))
}

// Named returns the entry of a name, or the zero Entry.
func Named(name string) (named Entry) {
	if i := slices.IndexFunc(Catalogue, func(e Entry) bool { return e.Name == name }); i >= 0 {
		named = Catalogue[i]
	}
	return named
}

// lastFrom returns the start of the exchange that holds the nth message from
// the end: the last n messages of the originals, without cutting a pair.
func lastFrom(d *compact.Draft, n int) int {
	if d.Messages() <= n {
		return 0
	}
	start, _ := d.Exchange(d.Messages() - n)
	return start
}

// dropBefore removes the exchanges that start before a message, oldest first, until
// done.
func dropBefore(d *compact.Draft, message int, why string, done func(*compact.Draft) bool) {
	for i := 0; i < message && !done(d); {
		d.Drop(i, why)
		_, i = d.Exchange(i)
	}
}

func never(*compact.Draft) bool { return false }

// rung is a stage of one func.
type rung struct {
	name   string
	shrink func(d *compact.Draft)
}

func (r rung) Name() string            { return r.name }
func (r rung) Shrink(d *compact.Draft) { r.shrink(d) }
