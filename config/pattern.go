package config

import "strings"

// Pattern matches names of models: * matches any run of characters, /
// included; every other character matches itself. Matching costs one pass over the
// name, whatever the pattern.
type Pattern string

func (p Pattern) Matches(name string) bool {
	piece, rest, star := strings.Cut(string(p), "*")
	name, ok := strings.CutPrefix(name, piece)
	for ok && star {
		if piece, rest, star = strings.Cut(rest, "*"); !star {
			return strings.HasSuffix(name, piece)
		}
		// The leftmost place of a piece leaves the most room for those behind it.
		_, name, ok = strings.Cut(name, piece)
	}
	return ok && name == ""
}

// anyText stands for the star of a pattern: it is in no pattern, so that only a star
// matches it.
const anyText = "\x00"

// covers reports whether every name that q matches is matched by p, too. A star
// of q may become any text, so only a star of p can take it.
func (p Pattern) covers(q Pattern) bool {
	return p.Matches(strings.ReplaceAll(string(q), "*", anyText))
}
