package digest

import (
	"cmp"
	"slices"
	"strings"
)

// Lines of results that bind are data, because a page that an agent read may say
// anything. They are kept apart from the words of users.
const (
	readLabel     = "rules in what was read (data):\n"
	rulesOfSource = 10 // lines from a result
	rulesOfCode   = 1  // from a result that is source code
)

// rulesRead returns the lines of results that bind, under their sources, and
// their cost: first from files that a user named, then from prose, then from
// code; the oldest first, and at most ten lines from a source.
func (p *part) rulesRead(room int) (text string, spent int) {
	sec := p.section(room - p.cost(readLabel))
	if sec.full() {
		return "", 0
	}
	order := slices.Clone(p.ruled)
	kind := map[*source]int{}
	for _, s := range order {
		kind[s] = s.kind(p.task.names)
	}
	slices.SortStableFunc(order, func(a, b *source) int { return cmp.Compare(kind[a], kind[b]) })
	lines := map[string]int{} // by source
	for _, s := range order {
		if sec.full() {
			break
		}
		label, most := s.label(), rulesOfSource
		if kind[s] == codeText {
			most = rulesOfCode
		}
		found, siblings := s.rules, s.siblings
		if kind[s] == codeText {
			siblings = nil
		}
		heading := "from " + label + ":\n"
		for _, line := range slices.Concat(found, siblings) {
			line = strings.TrimLeft(line, "-*• ")
			if kind[s] == namedFile {
				p.task.words.add(line)
			}
			if lines[label] < most && !p.recorded[line] && sec.add(heading+"- "+line+"\n") {
				p.recorded[line] = true
				p.task.words.add(line)
				lines[label]++
				heading = ""
			}
		}
	}
	if len(sec.lines) == 0 {
		return "", 0
	}
	return readLabel + strings.Join(sec.lines, ""), sec.spent + p.cost(readLabel)
}

// The kinds of results, in the order in which their rules are recorded.
const (
	namedFile = iota
	proseText
	codeText
)

func (s *source) kind(users map[string]bool) int {
	found := false
	label := s.label()
	for from, to := range names(label) {
		name := label[from:to]
		found = found || users[name] || users[name[strings.LastIndexByte(name, '/')+1:]]
	}
	switch {
	case found:
		return namedFile
	case s.code:
		return codeText
	}
	return proseText
}

// isCode reports whether the first lines of a text look like source code.
func isCode(text string) bool {
	if text = strings.TrimSpace(text); text == "" || text[0] == '{' || text[0] == '[' {
		return false // JSON
	}
	lines, ends := 0, 0
	for line := range strings.Lines(firstBytes(text, 4096)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		lines++
		if strings.IndexByte("{}();,", line[len(line)-1]) >= 0 {
			ends++
		}
	}
	return ends*4 > lines
}

// bindsAt reports whether a word that binds does so where it is: in prose, never,
// always and only mostly say how things are, unless they begin a clause.
func (s *source) bindsAt(at int32) bool {
	from, to := lineAt(s.text, int(at), int(at))
	before, after := s.text[from:at], s.text[at:to]
	if strings.ContainsAny(s.text[from:to], "={}") || strings.Contains(s.text[from:to], `("`) {
		return false // code
	}
	switch word, rest := firstWord(after); word {
	case "must", "mustn", "unless", "before":
		return true
	case "required":
		last := lastWord(before)
		return (last == "is" || last == "are" || last == "be") && !strings.HasPrefix(rest, ":")
	}
	return beginsClause(before)
}

// beginsClause reports whether what follows a part of a line begins a clause.
func beginsClause(before string) bool {
	before = strings.TrimRight(before, " \t*_`\"'>#-•(")
	if before == "" {
		return true
	}
	if strings.IndexByte(".:;!?,)", before[len(before)-1]) >= 0 {
		return true
	}
	switch lastWord(before) {
	case "please", "and", "but", "so", "then", "also", "just", "or", "you":
		return true
	}
	return false
}

// rulesAt returns the first most lines of a text that bind, and other items of
// the lists that hold them, at most most of each list. at are the places of words
// that bind.
func rulesAt(text string, at []int32, most int) (found, siblings []string) {
	done, list := 0, 0
	for _, at := range at {
		if int(at) < done {
			continue
		}
		if len(found) >= most {
			break
		}
		from, to := statement(text, int(at))
		done = to
		found = append(found, OneLine(text[from:to], ruleChars))
		if isItem(text[from:]) && from >= list {
			var items []string
			items, list = itemsAround(text, from, most)
			siblings = append(siblings, items...)
		}
	}
	return found, siblings
}

// binding are the words that say that something must or must not be done, each
// with the text that has to follow.
var binding = []struct{ word, rest string }{
	{"never", ""},
	{"must", ""},
	{"mustn", ""},
	{"always", ""},
	{"only", ""},
	{"required", ""},
	{"unless", ""},
	{"do", " not"},
	{"don", "'t"},
	{"don", "’t"},
	{"before", " you"},
}

// isBinding reports whether a word, with the text after it, says that something
// must or must not be done.
func isBinding(word, rest string) bool {
	for _, b := range binding {
		if len(b.word) == len(word) && b.word[0] == word[0]|0x20 && strings.EqualFold(b.word, word) && hasFold(rest, b.rest) {
			return true
		}
	}
	return false
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
