package stage

import (
	"fmt"
	"strings"

	"laconic/compact"
)

// Entry describes one stage of the catalogue.
type Entry struct {
	// Name is the stage's name in the configuration and in logs.
	Name string
	// Summary says in one line what the stage does.
	Summary string
	// New returns the stage for options, a JSON object; nil means defaults. The
	// error is an OptionErrors.
	New func(options []byte) (compact.Stage, error)
}

// Catalogue is the ladder in order, least harmful first.
var Catalogue = []Entry{
	entry("older exchanges are replaced by one text", summarize{MaxTokens: 8192}),
	entry("white space that means nothing leaves old tool results", squeeze{}),
	entry("long old tool results keep head and tail", trimResults{MaxChars: 5000}),
	entry("old tool results that a later one supersedes become a one-line marker", dedupe{MinTokens: 100}),
	entry("old tool results become a one-line marker", elideResults{MinBytes: 256}),
	entry("old assistant text becomes a one-line marker; calls stay", elideProse{MinBytes: 256}),
	entry("long strings in the arguments of old calls are cut", shrinkArguments{MaxChars: 500}),
	entry("old images, sounds, videos and files become a line of text", stripMedia{}),
	entry("the oldest exchanges leave whole", dropOldest{}),
	entry("last resort: the largest tool results are cut until the request fits", cutOversize{}),
}

// entry returns the catalogue's entry for a stage, from its default options.
func entry[S any, P interface {
	*S
	compact.Stage
}](summary string, defaults S) Entry {
	name := P(&defaults).Name()
	return Entry{name, summary, func(raw []byte) (compact.Stage, error) {
		s := defaults
		if err := ReadOptions(name, &s, raw); err != nil {
			return nil, err
		}
		return P(&s), nil
	}}
}

// Names returns the names of the catalogue, in order.
func Names() []string {
	names := make([]string, len(Catalogue))
	for i, e := range Catalogue {
		names[i] = e.Name
	}
	return names
}

// New returns the named stage for options, a JSON object; nil means defaults.
func New(name string, options []byte) (compact.Stage, error) {
	for _, e := range Catalogue {
		if e.Name == name {
			return e.New(options)
		}
	}
	return nil, fmt.Errorf("there is no stage %q; known are %s", name, strings.Join(Names(), ", "))
}

// Default returns the ladder of the adaptive policy: every stage of the
// catalogue with its default options.
func Default() []compact.Stage {
	ladder := make([]compact.Stage, len(Catalogue))
	for i, e := range Catalogue {
		ladder[i], _ = e.New(nil) // the defaults are no error
	}
	return ladder
}
