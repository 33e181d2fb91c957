package tokenize

import (
	"fmt"
	"strings"
)

// UnknownError says that no tokenizer has the name that was asked for.
type UnknownError struct {
	Name  string   // what was asked for
	Known []string // every known name, in order
}

// Error returns one sentence for the user: the wrong name, and all known ones.
func (e *UnknownError) Error() string {
	name := e.Name
	if len(name) > longestName {
		name = name[:longestName] + "…"
	}
	return fmt.Sprintf("unknown tokenizer %q (known: %s)", name, strings.Join(e.Known, ", "))
}

// longestName bounds how much of a wrong name is printed: it may come from a client.
const longestName = 64
