package digest

import "slices"

// A section is a part of the record that is being chosen: lines, until its room
// is spent or too many do not fit.
type section struct {
	*part
	left, spent int // tokens
	misses      int // lines that did not fit or were recorded already
	lines       []string
}

// maxMisses bounds how many things a section tries that do not fit or are
// recorded already.
const maxMisses = 256

func (p *part) section(room int) *section { return &section{part: p, left: room} }

// full reports whether no other line is worth trying.
func (s *section) full() bool { return s.left < 8 || s.misses > maxMisses }

// add adds a line, and reports whether the line fits.
func (s *section) add(line string) bool {
	n := s.cost(line)
	if n > s.left {
		s.misses++
		return false
	}
	s.left -= n
	s.spent += n
	s.lines = append(s.lines, line)
	return true
}

// write writes the lines, which were chosen from the newest on, in their order.
// It returns the tokens spent.
func (s *section) write() int {
	for _, line := range slices.Backward(s.lines) {
		s.text.WriteString(line)
	}
	return s.spent
}
