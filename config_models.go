package main

import (
	"strings"
)

// pattern matches names of models: * stands for any run of characters, /
// included; every other character for itself. Matching costs one pass over the
// name, whatever the pattern.
type pattern struct {
	text   string
	pieces []string // what stands between the stars; one piece: no star
}

func compilePattern(text string) pattern {
	return pattern{text, strings.Split(text, "*")}
}

func (p pattern) matches(name string) bool {
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

// covers tells whether every name that q matches is matched by p, too. A star
// of q may become any text, so only a star of p can take it: that is what p
// does with a character that stands in no pattern.
func (p pattern) covers(q pattern) bool {
	return p.matches(strings.ReplaceAll(q.text, "*", "\x00"))
}

// everything tells whether the pattern matches every name, the empty one of a
// request that names no model included.
func (p pattern) everything() bool { return strings.Trim(p.text, "*") == "" && p.text != "" }
