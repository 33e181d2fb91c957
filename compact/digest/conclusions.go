package digest

import (
	"slices"
	"strings"
)

const (
	conclusionChars = 240
	minConclusion   = 24
)

// conclusions writes what the assistant concluded: the last sentence of a
// message that names something, the last sentence of an answer without calls,
// and notes that were appended to a file. The newest that fit are written, in
// their order. It returns the tokens spent.
func (p *part) conclusions(room int) int {
	s := p.section(room)
	for _, a := range slices.Backward(p.answers) {
		if s.full() {
			break
		}
		said := a.conclusions()
		for _, text := range slices.Backward(said) {
			if slices.ContainsFunc(s.lines, func(l string) bool { return strings.Contains(l, strings.TrimRight(text, ".")) }) {
				s.misses++
			} else {
				s.add("concluded: " + text + "\n")
			}
		}
	}
	return s.write()
}

// answer is a message of the assistant that left.
type answer struct {
	*message
	said []string // conclusions, once they were asked for
	read bool
}

// conclusions returns what the message concludes.
func (a *answer) conclusions() []string {
	if a.read {
		return a.said
	}
	a.read = true
	for _, call := range a.actions {
		if call.path == "" && strings.Contains(call.command, ">>") && len(call.command) <= conclusionChars {
			a.said = append(a.said, quote(call.command, conclusionChars))
		}
	}
	var texts []string
	for _, s := range a.sources {
		if !s.argument {
			texts = append(texts, s.text)
		}
	}
	if text := conclusion(strings.Join(texts, " "), len(a.actions) == 0); text != "" && !sharesName(text, a.said) {
		a.said = append(a.said, text)
	}
	return a.said
}

// conclusion returns the last sentence of an assistant message that says
// something. last accepts a sentence without names.
func conclusion(text string, last bool) string {
	if len(text) > 4*conclusionChars {
		text = strings.ToValidUTF8(text[len(text)-4*conclusionChars:], "")
		if i := strings.IndexAny(text, " \n"); i >= 0 {
			text = text[i+1:]
		}
	}
	for end := len(strings.TrimRight(text, " \n")); end > 0; {
		from := max(sentenceEnd(text[:end-1]), strings.LastIndexByte(text[:end-1], '\n')+1)
		if s := text[from:end]; len(s) >= minConclusion && (last || hasName(s)) && !announces(s) {
			return OneLine(s, conclusionChars)
		}
		end = len(strings.TrimRight(text[:from], " \n"))
	}
	return ""
}

// announcements begin sentences that say what comes next.
var announcements = []string{"let me", "let's", "let us", "now let", "now i", "now, let", "i'll", "i will", "i'm going to", "next,", "first,", "i need to", "i should", "good! now", "next i"}

// announces reports whether a sentence says what the assistant does next. The
// calls say that.
func announces(sentence string) bool {
	sentence = strings.ToLower(strings.Trim(sentence, " \t\n*#->"))
	return strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, "?") || strings.Contains(sentence, "let me ") ||
		slices.ContainsFunc(announcements, func(a string) bool { return strings.HasPrefix(sentence, a) })
}

// sentenceEnd returns the index after the last sentence that ends in a text, or
// 0. The dot after the number of a list item ends no sentence.
func sentenceEnd(text string) int {
	for at := len(text); ; {
		if at = strings.LastIndex(text[:at], ". "); at < 0 {
			return 0
		}
		if at == 0 || class[text[at-1]] != digit {
			return at + 2
		}
	}
}

// sharesName reports whether one of texts has a name of text.
func sharesName(text string, texts []string) bool {
	for from, to := range names(text) {
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text[from:to]) }) {
			return true
		}
	}
	return false
}
