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

// covers reports whether every name that q matches is matched by p, too. A star
// of q may become any text, so only a star of p can take it: that is what p
// does with a character that is in no pattern.
func (p Pattern) covers(q Pattern) bool {
	return p.Matches(strings.ReplaceAll(q.text, "*", "\x00"))
}

// longestCompared bounds what it costs to compare two patterns.
const longestCompared = 1 << 20

// overlaps reports whether there is a name that both patterns match, or that cannot
// be told cheaply.
func (p Pattern) overlaps(q Pattern) bool {
	a, b := p.text, q.text
	if len(a)*len(b) > longestCompared {
		return true
	}
	// same[j] tells of the rest of a, and of b from j on, whether a name fits both.
	same, before := make([]bool, len(b)+1), make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		same, before = before, same
		for j := len(b); j >= 0; j-- {
			starA, starB := i < len(a) && a[i] == '*', j < len(b) && b[j] == '*'
			switch {
			case starA || starB:
				same[j] = i < len(a) && before[j] || j < len(b) && same[j+1]
			case i == len(a) || j == len(b):
				same[j] = i == len(a) && j == len(b)
			default:
				same[j] = a[i] == b[j] && before[j+1]
			}
		}
	}
	return same[0]
}

// Everything reports whether the pattern matches every name, the empty one of a
// request that names no model included.
func (p Pattern) Everything() bool { return strings.Trim(p.text, "*") == "" && p.text != "" }
