package config

import (
	"strings"
)

// Pattern matches names of models: * matches any run of characters, /
// included; every other character matches itself. Matching costs one pass over the
// name, whatever the pattern.
type Pattern struct {
	text   string
	pieces []string // the text between the stars; one piece: no star
}

func CompilePattern(text string) Pattern {
	return Pattern{text, strings.Split(text, "*")}
}

func (p Pattern) Matches(name string) bool {
	last := len(p.pieces) - 1
	if last == 0 {
		return name == p.pieces[0]
	}
	name, ok := strings.CutPrefix(name, p.pieces[0])
	if !ok {
		return false
	}
	// The leftmost place of a piece leaves the most room for those behind it.
	for _, piece := range p.pieces[1:last] {
		at := strings.Index(name, piece)
		if at < 0 {
			return false
		}
		name = name[at+len(piece):]
	}
	return strings.HasSuffix(name, p.pieces[last])
}

// anyText stands for the star of a pattern: it is in no pattern, so that only a star
// matches it.
const anyText = "\x00"

// covers reports whether every name that q matches is matched by p, too. A star
// of q may become any text, so only a star of p can take it.
func (p Pattern) covers(q Pattern) bool {
	return p.Matches(strings.ReplaceAll(q.text, "*", anyText))
}

// Everything reports whether the pattern matches every name, the empty one of a
// request that names no model included.
func (p Pattern) Everything() bool { return strings.Trim(p.text, "*") == "" && p.text != "" }
