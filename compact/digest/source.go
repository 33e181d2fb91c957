package digest

import (
	"regexp"
	"strings"
)

// source adds what was read of a file: of code whole pieces under their
// definitions, of prose and settings rules and values first.
func (p *part) source(i int, e *event, head int32) {
	f := p.files.later(e)
	if e.outcome.verdict == failed || p.bodies[i] == nil || f != nil && f.whole {
		return
	}
	b := p.bodies[i]
	if isCode(e.path, e.result.text) {
		p.program(i, b, head)
		return
	}
	n := len(b.lines)
	short := len(e.result.text) <= shortFile
	if f != nil && p.gone[f] == nil {
		p.gone[f] = f.gone()
	}
	w, gone := p.weights[i], p.gone[f]
	stands := f == nil && (standing.MatchString(e.path) || p.interest.named(e.path))
	p.lines(rules, i, 1, b, 300, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		if t == "" {
			return 0, blank
		}
		rule := binds(l)
		if isNoise(t) || gone[l] || k < 3 && e.result.object != unknown && ofDocument.MatchString(t) {
			return 0, skipped
		}
		if heading.MatchString(t) && n > 8 {
			return 0.1, opens
		}
		s := b.interest(p.interest, k)*0.6 + max(0, 0.9-0.45*float32(k))
		if rule {
			s += 1.5
		}
		if short {
			s += 0.6
		}
		switch {
		case stands && (rule || item.MatchString(l) && !explains.MatchString(l)):
			s = (s + 0.6) * standingWeight / w // however long ago
		case f == nil && (rule || short):
			s *= max(1, heldWeight/w)
		}
		if rule && len(l) > longRule {
			return s, single
		}
		return s, plainLine
	}, 0, w, head, max(500, p.room/8))
}

// The weight of rules that hold as long as the work goes on, and the least of other rules
// and of short files, however long ago they were read.
const (
	standingWeight = 2
	heldWeight     = 1.3
)

// longRule is the length of rules that are pieces of their own.
const longRule = 100

// explains finds items that say what a thing is: its name comes first.
var explains = regexp.MustCompile("^[ \t]*(?:[-*+]|\\d+[.)]) +[*_]*`")

// shortFile is the length up to which a file counts as short. Settings and tasks
// are short, and an agent reads them once, early.
const shortFile = 2400

// program adds pieces of source code: definitions that are not long whole, of others
// a few lines below the line that begins them.
func (p *part) program(i int, b *body, head int32) {
	most := min(wholeCode, max(leastLine, p.room/10))
	first, parent, doc := len(p.pieces), head, false
	w := p.weights[i] * 0.62
	add := func(from, to int, need int32) int32 {
		return p.span(sources, i, 1, b, [2]int{from, to}, 0, w, need, func(k int) float32 {
			t := strings.TrimSpace(b.at(k))
			if conflict.MatchString(t) {
				return 2
			}
			quotes := strings.Count(t, `"""`) + strings.Count(t, "'''")
			comment := doc || quotes > 0 || comment.MatchString(t)
			if doc = doc != (quotes%2 == 1); comment {
				return min(b.interest(p.interest, k), 2) * 0.4
			}
			return min(b.interest(p.interest, k), 2)
		})
	}
	for _, k := range b.blocks(most, 0) {
		if k.opens {
			parent = add(k.from, k.to, head)
			p.pieces[parent].score *= 0.5
		} else {
			need := parent
			if k.defines {
				need = head
			}
			add(k.from, k.to, need)
		}
	}
	p.limit(first, p.room*2/7)
}

// conflict finds the lines between which git leaves the sides of a merge.
var conflict = regexp.MustCompile(`^(?:<{7} |={7}$|>{7} )`)

// wholeCode is the length of definitions that are told whole.
const wholeCode = 900

// A block is a part of source code: a definition that is not long, with the comment above,
// the line that opens a long one, or lines between them.
type block struct {
	from, to       int
	opens, defines bool
}

// blocks divides code into blocks of at most some bytes. Each line begins with a mark
// of some bytes.
func (b *body) blocks(most, mark int) (list []block) {
	at := func(k int) string { return b.at(k)[min(mark, len(b.at(k))):] }
	length := func(from, to int) int { return int(b.lines[to-1].to - b.lines[from].from) }
	// defines returns the line of the definition that begins at a line, below a comment if
	// both are not long; -1: none does.
	defines := func(k int) int {
		switch {
		case definition.MatchString(at(k)):
			return k
		case k+1 < len(b.lines) && comment.MatchString(strings.TrimSpace(at(k))) && definition.MatchString(at(k+1)) && length(k, blockEnd(at, k+1, len(b.lines))) <= most:
			return k + 1
		}
		return -1
	}
	for k := 0; k < len(b.lines); {
		end, opens, of := k+1, false, defines(k)
		if of >= 0 {
			if end = blockEnd(at, of, len(b.lines)); length(k, end) > most {
				opens, end = true, of+1
			}
		} else {
			for end < len(b.lines) && length(k, end+1) <= most && defines(end) < 0 && (strings.TrimSpace(at(end)) != "" || length(k, end) < most/2) {
				end++
			}
		}
		if strings.TrimSpace(b.between(k, end)) != "" {
			list = append(list, block{k, end, opens, of >= 0})
		}
		k = end
	}
	return list
}

// blockEnd returns the number of the line after the definition that begins at a line:
// that of the first line that is indented no more, without closing brackets.
func blockEnd(at func(k int) string, k, lines int) int {
	indent := func(k int) int { return len(at(k)) - len(strings.TrimLeft(at(k), " \t")) }
	least, end := indent(k), k+1
	for end < lines {
		t := strings.TrimSpace(at(end))
		if t != "" && indent(end) <= least && strings.IndexByte(")]}", t[0]) < 0 {
			break
		}
		if end++; t != "" && indent(end-1) <= least && strings.Trim(t, ")]};,") == "" {
			break
		}
	}
	for end > k+1 && strings.TrimSpace(at(end-1)) == "" {
		end--
	}
	return end
}
