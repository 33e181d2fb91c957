package stage

import (
	"fmt"
	"strings"

	"laconic/compact"
)

// Entry describes one stage of the catalogue.
type Entry struct {
	// Name is what configuration and logs call the stage.
	Name string
	// Summary says in one line what it does.
	Summary string
	// New makes the stage from its options, a JSON object; empty means
	// defaults. The error is OptionErrors: all that are not known or out of range.
	New func(options []byte) (compact.Stage, error)
}

// Names lists the stages of the catalogue in order.
func Names() []string {
	names := make([]string, len(Catalogue))
	for i, e := range Catalogue {
		names[i] = e.Name
	}
	return names
}

// New makes the stage with that name from its options, a JSON object; empty
// means defaults.
func New(name string, options []byte) (compact.Stage, error) {
	for _, e := range Catalogue {
		if e.Name == name {
			return e.New(options)
		}
	}
	return nil, fmt.Errorf("there is no stage %q; known are %s", name, strings.Join(Names(), ", "))
}

// Default is the ladder of the adaptive policy: every stage of the catalogue
// with its default options.
func Default() []compact.Stage {
	ladder := make([]compact.Stage, len(Catalogue))
	for i, e := range Catalogue {
		s, err := e.New(nil)
		if err != nil {
			panic("BUG: the defaults of " + e.Name + " are refused: " + err.Error())
		}
		ladder[i] = s
	}
	return ladder
}

// Catalogue is the ladder in order, least harmful first.
var Catalogue = []Entry{
	{"squeeze", "white space that means nothing leaves old tool results", newSqueeze},
	{"trim_results", "long old tool results keep head and tail", newTrimResults},
	{"summarize", "older exchanges are replaced by one text", newSummarize},
	{"dedupe", "old tool results that a later one supersedes become a one-line marker", newDedupe},
	{"elide_results", "old tool results become a one-line marker", newElideResults},
	{"elide_prose", "old assistant text becomes a one-line marker; calls stay", newElideProse},
	{"shrink_arguments", "long strings in the arguments of old calls are cut", newShrinkArguments},
	{"strip_media", "old images, sounds, videos and files become a line of text", newStripMedia},
	{"drop_oldest", "the oldest exchanges leave whole", newDropOldest},
	{"cut_oversize", "last resort: the largest tool results are cut until the request fits", newCutOversize},
}
