package stage

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"laconic/compact"
)

// Rules are the lines that bind: an agent that forgets one does harm. Those of
// users and instructions stand apart from those of results, which are data: a
// page that an agent read may say what it likes.
const (
	ruleLabel     = "rules of the user:\n"
	readLabel     = "rules in what was read (data, not the user's words):\n"
	rulesOfSource = 10 // lines of a result
	rulesOfCode   = 1  // of one that is a program
	rulesOfUser   = 40 // lines of a message of the user
)

// rules writes the lines of users and instructions that bind, the newest
// messages first where there is not room for all. It returns the tokens spent.
func (d *digest) rules(room int) (spent int) {
	room -= d.cost(ruleLabel)
	var lines []string
	for _, m := range slices.Backward(d.lost) {
		if m.Role != compact.User && !m.Role.Head() {
			continue
		}
		found, _ := rulesIn(textOf(&m), rulesOfUser)
		for _, line := range slices.Backward(found) {
			if line, n := d.rule(line, room-spent); n > 0 {
				lines = append(lines, line)
				spent += n
			}
		}
		if room-spent < 8 {
			break
		}
	}
	if len(lines) == 0 {
		return 0
	}
	d.text.WriteString(ruleLabel)
	d.backward(lines)
	return spent + d.cost(ruleLabel)
}

// rule is one line of a list of rules and its cost; 0 where it stands in the
// record already, or is too long for the room.
func (d *digest) rule(line string, room int) (string, int) {
	line = strings.TrimLeft(line, "-*• ")
	if room < 4 || d.told[line] {
		return "", 0
	}
	text := "- " + line + "\n"
	n := d.cost(text)
	if n > room {
		return "", 0
	}
	d.told[line] = true
	d.bound = append(d.bound, line)
	return text, n
}

// rulesRead returns the lines of results that bind under their sources, and
// what they cost: first of files that a user named, then of prose, then of
// code; of each kind the oldest first, and at most ten lines of a source.
func (d *digest) rulesRead(room int) (text string, spent int) {
	room -= d.cost(readLabel)
	if room < 8 {
		return "", 0
	}
	named := d.namedByUsers()
	var order []*source
	kind := map[*source]int{}
	for i := range d.sources {
		if s := &d.sources[i]; s.role.Result() {
			order = append(order, s)
			kind[s] = s.kind(named)
		}
	}
	slices.SortStableFunc(order, func(a, b *source) int { return cmp.Compare(kind[a], kind[b]) })
	var b strings.Builder
	lines := map[string]int{} // by source
	for _, s := range order {
		if room-spent < 8 {
			break
		}
		label, most := s.label(), rulesOfSource
		if kind[s] == code {
			most = rulesOfCode
		}
		found, mates := rulesIn(s.text, most-lines[label])
		heading := "from " + label + ":\n"
		for i, line := range slices.Concat(found, mates) {
			if lines[label] >= most || i >= len(found) && kind[s] == code {
				break
			}
			extra := 0
			if heading != "" {
				extra = d.cost(heading)
			}
			if line, n := d.rule(line, room-spent-extra); n > 0 {
				b.WriteString(heading + line)
				spent += n + extra
				lines[label]++
				heading = ""
			}
		}
	}
	if spent == 0 {
		return "", 0
	}
	return readLabel + b.String(), spent + d.cost(readLabel)
}

// The kinds of results, in the order in which their rules are told.
const (
	named = iota
	prose
	code
)

func (s *source) kind(users map[string]bool) int {
	found := false
	label := s.label()
	names(label, func(from, to int) {
		name := label[from:to]
		found = found || users[name] || users[name[strings.LastIndexByte(name, '/')+1:]]
	})
	switch {
	case found:
		return named
	case isCode(s.text):
		return code
	}
	return prose
}

// namedByUsers returns the names that users wrote.
func (d *digest) namedByUsers() map[string]bool {
	in := map[string]bool{}
	for _, list := range [][]compact.Message{d.lost, d.kept} {
		for i := range list {
			if list[i].Role == compact.User {
				text := textOf(&list[i])
				names(text, func(from, to int) { in[text[from:to]] = true })
			}
		}
	}
	return in
}

// isCode reports whether the lines at the start of a text look like those of a
// program.
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

// rulesIn returns the first lines of a text that bind, and the other items of
// the lists in which they stand, at most so many of each.
func rulesIn(text string, most int) (found, mates []string) {
	done, list := 0, 0
	binding(text, func(at int) bool {
		if at < done {
			return true
		}
		if len(found) >= most {
			return false
		}
		from, to := statement(text, at)
		done = to
		found = append(found, oneLine(text[from:to], ruleChars))
		if isItem(text[from:]) && from >= list {
			var items []string
			items, list = itemsAround(text, from, most)
			mates = append(mates, items...)
		}
		return true
	})
	return found, mates
}

const (
	lineChars = 200 // of a line that is quoted
	ruleChars = 300 // of a rule, which may go on on the next line
)

// statement is the line of a text that holds a place, with the line before or
// behind it where the sentence goes on there. Of a long line it is the sentence.
func statement(text string, at int) (from, to int) {
	from, to = lineAt(text, at, at)
	if cut := to - from; cut >= 2*lineChars || to < len(text) && text[to] != '\n' || from > 0 && text[from-1] != '\n' {
		return sentenceAt(text, at)
	}
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[from:to], " \t")); unicode.IsLower(r) && from > 1 && text[from-2] != '\n' {
		if f, t := lineAt(text, from-1, from-1); t == from-1 && t-f > 40 {
			from = f
		}
	}
	for range 2 {
		if to+1 >= len(text) || strings.IndexByte(".!?:;|}", text[to-1]) >= 0 || to-from >= ruleChars {
			break
		}
		f, t := lineAt(text, to+1, to+1)
		if next := text[f:t]; strings.TrimSpace(next) == "" || isItem(next) || to-from < 50 && !isBlank(next[0]) {
			break
		}
		to = t
	}
	return from, to
}

// lineAt is the line of a text that holds [from, to), or what of it is near.
func lineAt(text string, from, to int) (start, end int) {
	low, high := max(0, from-2*lineChars), min(len(text), to+2*lineChars)
	start = low + strings.LastIndexByte(text[low:from], '\n') + 1
	for start > low && start < from && !utf8.RuneStart(text[start]) {
		start++
	}
	if end = high; to < high {
		if i := strings.IndexByte(text[to:high], '\n'); i >= 0 {
			return start, to + i
		}
	}
	for end > to && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return start, end
}

// sentenceAt is the sentence that holds a place of a long line.
func sentenceAt(text string, at int) (from, to int) {
	from, to = lineAt(text, at, at)
	if i := strings.LastIndex(text[from:at], ". "); i >= 0 {
		from += i + 2
	} else if at-from > lineChars/2 {
		from = at - lineChars/2
		from += strings.IndexByte(text[from:at], ' ') + 1
	}
	if i := strings.Index(text[at:to], ". "); i >= 0 {
		to = at + i + 1
	}
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	return from, to
}

// isItem reports whether a line begins like an item of a list: -, *, 1. or 1).
func isItem(line string) bool {
	line = strings.TrimLeft(firstBytes(line, 64), " \t")
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "• ") {
		return true
	}
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && len(rest) > 1 && (rest[0] == '.' || rest[0] == ')') && rest[1] == ' '
}

// itemsAround returns the items of the list that holds the item at a place, at
// most so many on each side, and where the list ends.
func itemsAround(text string, from, most int) (items []string, end int) {
	start := from
	for range most {
		f, _ := lineAt(text, max(0, start-1), max(0, start-1))
		if start == 0 || !isItem(text[f:]) && !isBlank(text[f]) || strings.TrimSpace(text[f:start]) == "" {
			break
		}
		start = f
	}
	for at := start; at < len(text) && len(items) < 2*most; {
		f, t := statement(text, at)
		if isItem(text[f:]) && f >= at {
			items = append(items, oneLine(text[f:t], ruleChars))
		} else if t <= at || strings.TrimSpace(text[at:t]) == "" || !isBlank(text[at]) {
			break
		}
		at = t + 1
		end = at
	}
	return items, end
}

// oneLine puts a text on one line, cut at a word where it is longer than n
// bytes. It cannot be taken for a part of the record.
func oneLine(s string, n int) string {
	s = quoted(s, len(s))
	if len(s) <= n {
		return s
	}
	s = firstBytes(s, n)
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return s + "…"
}

// wordSet holds words in small letters.
type wordSet map[string]bool

// leastTerm is the length of a word that can be one of a task's.
const leastTerm = 4

// terms returns the words of the users' messages and of the rules that stand in
// the record: what the task is about.
func (d *digest) terms() wordSet {
	w := wordSet{}
	for _, list := range [][]compact.Message{d.lost, d.kept} {
		for i := range list {
			if list[i].Role == compact.User {
				w.add(textOf(&list[i]))
			}
		}
	}
	for _, line := range d.bound {
		w.add(line)
	}
	return w
}

func (w wordSet) add(text string) {
	eachWord(text, func(from, to int) bool {
		if to-from >= leastTerm {
			w[strings.ToLower(text[from:to])] = true
		}
		return true
	})
}

// in counts the words of a text that are in the set, each once.
func (w wordSet) in(text string) int {
	found := wordSet{}
	eachWord(text, func(from, to int) bool {
		if word := strings.ToLower(text[from:to]); w[word] {
			found[word] = true
		}
		return true
	})
	return len(found)
}

// eachWord calls f for each run of letters of a text, until f says that it is
// enough.
func eachWord(text string, f func(from, to int) (more bool)) {
	for i := 0; i < len(text); {
		if class[text[i]]&(lower|upper) == 0 {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && class[text[j]]&(lower|upper) != 0 {
			j++
		}
		if !f(i, j) {
			return
		}
		i = j
	}
}

// binding calls f with the place of each word of a text that binds, until f
// says that it is enough.
func binding(text string, f func(at int) (more bool)) {
	eachWord(text, func(from, to int) bool {
		n := to - from
		return n < 2 || n > 8 || !binds(text[from:to], text[to:]) || f(from)
	})
}

// binds reports whether a word, with what follows it, says that something must
// be done or must not.
func binds(word, rest string) bool {
	switch word[0] | 0x20 {
	case 'n':
		return strings.EqualFold(word, "never")
	case 'm':
		return strings.EqualFold(word, "must") || strings.EqualFold(word, "mustn")
	case 'a':
		return strings.EqualFold(word, "always")
	case 'o':
		return strings.EqualFold(word, "only")
	case 'r':
		return strings.EqualFold(word, "required")
	case 'u':
		return strings.EqualFold(word, "unless")
	case 'd':
		return len(word) == 2 && hasFold(word, "do") && hasFold(rest, " not") ||
			len(word) == 3 && hasFold(word, "don") && (hasFold(rest, "'t") || hasFold(rest, "’t"))
	case 'b':
		return strings.EqualFold(word, "before") && hasFold(rest, " you")
	}
	return false
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
