package digest

import "strings"

const (
	// aroundChars is how many bytes of a long line stay on each side of a name,
	// up to the end of a word.
	aroundChars = 12
	// besideChars is the length up to which a line comes along with the line next
	// to it, minBeside the length from which it is worth that.
	besideChars = 60
	minBeside   = 6
)

// excerpt is the stretch [from, to) of a text that left.
type excerpt struct {
	in       string
	from, to int
}

// lineOf returns the line of a name, or the surroundings of the name in a long
// line.
func lineOf(text string, nameFrom, nameTo int) excerpt {
	from, to := lineAt(text, nameFrom, nameTo)
	if from > 0 && text[from-1] != '\n' || to < len(text) && text[to] != '\n' || to-from > lineChars {
		from, to = wordStart(text, from, nameFrom-aroundChars), wordEnd(text, nameTo+aroundChars, to)
	}
	return excerpt{text, from, to}
}

// around returns the surroundings of a name in arguments as they were sent.
func around(arguments string, nameFrom, nameTo int) excerpt {
	e := excerpt{arguments, wordStart(arguments, 0, nameFrom-aroundChars), wordEnd(arguments, nameTo+aroundChars, len(arguments))}
	if e.from > 0 && arguments[e.from-1] == '\\' {
		e.from++ // half of an escape
	}
	return e
}

// beside extends an excerpt by the line before and the line after, each if the
// name is at that end and the line is short.
func (e excerpt) beside(nameFrom, nameTo int) excerpt {
	if nameFrom-e.from < aroundChars && e.from > 0 && e.in[e.from-1] == '\n' {
		if f, t := lineAt(e.in, e.from-1, e.from-1); saysSome(e.in[f:t]) {
			e.from = f
		}
	}
	if e.to-nameTo < aroundChars && e.to < len(e.in) && e.in[e.to] == '\n' {
		if f, t := lineAt(e.in, e.to+1, e.to+1); saysSome(e.in[f:t]) {
			e.to = t
		}
	}
	return e
}

// saysSome reports whether a line is short, and more than a bracket or a tag.
func saysSome(line string) bool {
	said := strings.TrimSpace(line)
	return len(line) <= besideChars && len(said) >= minBeside && said[0] != '<'
}

// wordStart returns the start of the word at an index, but least at the least.
func wordStart(text string, least, at int) int {
	for at = max(at, least); at > least && at < len(text) && inWord(text[at]) && inWord(text[at-1]); {
		at--
	}
	return at
}

// wordEnd returns the end of the word at an index, but most at the most.
func wordEnd(text string, at, most int) int {
	for at = min(at, most); at < most && at > 0 && inWord(text[at]) && inWord(text[at-1]); {
		at++
	}
	return at
}

// inWord reports whether a byte belongs to a name or to a character beyond
// ASCII.
func inWord(c byte) bool { return class[c] != 0 || c >= 0x80 }

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// merge joins an excerpt with those of a sorted list that it touches: joined
// replaces list[i:j], whose excerpts have had bytes.
func (e excerpt) merge(list []excerpt) (joined excerpt, i, j, had int) {
	for i < len(list) && list[i].to < e.from {
		i++
	}
	for j = i; j < len(list) && list[j].from <= e.to; j++ {
		e.from, e.to = min(e.from, list[j].from), max(e.to, list[j].to)
		had += list[j].to - list[j].from
	}
	return e, i, j, had
}
