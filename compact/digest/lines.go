package digest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/compact/quote"
)

// A line is a line of a text, or a part of a long one.
type line struct {
	from, to int32
	terms    [2]int32 // of body.ids
	number   int32    // of the line in the text, from 0
	inText   bool     // of code: it begins within a text of several lines
}

// body is a text with its lines and the terms in them.
type body struct {
	text  string
	lines []line
	ids   []int32
	seen  bool  // the model reads more than half of the long lines, which are many
	first int32 // the number of its first line among all that were counted
}

// leadsOn reports whether a line leads to those below it: to a list, or to a paragraph.
func (b *body) leadsOn(i int) bool {
	l := b.at(i)
	return i+1 < len(b.lines) && b.lines[i+1].from != b.lines[i].to &&
		(ledBy(l) || b.levelOf(i)%2 == 0 && b.levelOf(i+1) == b.levelOf(i)+1 || item.MatchString(l) && item.MatchString(b.at(i+1)) && b.levelOf(i+1) > b.levelOf(i))
}

// ledBy reports whether a line ends with words that lead to others.
func ledBy(l string) bool {
	l = strings.TrimRight(l, " \t*_")
	return strings.HasSuffix(l, ":") || strings.HasSuffix(l, "：")
}

// denies finds words that deny something.
var denies = regexp.MustCompile(`(?i)\b(?:not?|never|none|nothing|\w+n['’]t|cannot|without|wrong|reject\w*|avoid|against|fail\w*|dead|nicht|kein\w*|nie|pas|jamais|nunca|sin)\b|[不没無]|ない|(?:^|[^\pL])(?:не|нет|ни)[^\pL]`)

// endOfSentence matches the end of a sentence at the end of a line.
const endOfSentence = `[.!?。！？]["')*\x60]*\s*$`

// endsSentence reports whether a part of a line ends with a sentence.
func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(strings.TrimRight(s, " \t\n\f\r"), "\"')*`"))
	return strings.ContainsRune(".!?。！？", last)
}

// levelOf returns the level of a line: below 0 that of a heading, else twice its indent,
// and one more for an item of a list.
func (b *body) levelOf(i int) int {
	if b.lines[i].inText { // which may begin anywhere
		return 1 << 20
	}
	l := b.at(i)
	t := strings.TrimLeft(l, " \t")
	level := 2 * (len(l) - len(t))
	switch {
	case i+1 < len(b.lines) && strings.HasPrefix(b.at(i+1), "====="): // a title in the middle
		return -1
	case t == l && heading.MatchString(t):
		return cmp.Or(len(t)-len(strings.TrimLeft(t, "#")), 8) - 9
	case item.MatchString(l):
		level++
	}
	return level
}

// item finds an item of a list.
var item = regexp.MustCompile(`^[ \t]*([-*•]|[0-9]+[.)]) `)

func (b *body) at(i int) string { return b.text[b.lines[i].from:b.lines[i].to] }

// bodyOf returns the lines of a text, of those that are longer than some bytes the
// sentences, and counts the terms that x knows.
func (x *interest) bodyOf(text string, least int) *body {
	b := &body{text: text, first: x.lines, lines: make([]line, 0, strings.Count(text, "\n")+1+len(text)/x.long)}
	for at, number := 0, int32(0); at < len(text); number++ {
		all, _, _ := strings.Cut(text[at:], "\n")
		end := at + len(all)
		for from := at; ; {
			to := end
			if end-from > least {
				to = from + sentenceLength(text[from:end], x.long)
			}
			if to-from > x.long {
				to = from + partLength(text[from:to], x.long)
			}
			b.add(x, line{from: int32(from), to: int32(to), number: number})
			if from = to; from == end {
				break
			}
		}
		at = end + 1
	}
	return b
}

// findTexts finds the lines of code that begin within a text of several lines. A lone mark, or a part
// of a file that begins in a text, is wrong until the next function.
func (b *body) findTexts() {
	open := false
	for i := range b.lines {
		l := b.at(i)
		open = open && !function.MatchString(l)
		b.lines[i].inText = open
		open = open != (len(textMark.FindAllString(l, -1))%2 > 0)
	}
}

// function finds a line that begins a function or a class, and goes on.
var function = regexp.MustCompile(`^\s*(?:(?:async|export|default|pub|static|public|private|protected) )*(?:def|func|fn|class|function)[ (].*[({:,]\s*$`)

// textMark finds what begins a text of several lines.
var textMark = regexp.MustCompile("`|\"\"\"|'''")

// add adds a line, with the terms in it.
func (b *body) add(x *interest, l line) {
	l.terms[0] = int32(len(b.ids))
	terms(b.text[l.from:l.to], func(t string, name bool) {
		id, ok := x.terms[t]
		if !ok && name {
			id, ok = x.of(t)
		}
		if ok {
			b.ids = append(b.ids, id)
			x.list[id].lines++
			x.list[id].last = x.lines
		}
	})
	l.terms[1] = int32(len(b.ids))
	b.lines = append(b.lines, l)
	x.lines++
}

// quoted returns some lines, with a mark where they are a part of a longer one.
func (b *body) quoted(from, to int) string {
	text, before, after := b.between(from, to), "", ""
	if b.breaks(from) {
		before = "…"
	}
	if b.breaks(to) {
		text, after = strings.TrimRight(text, " "), "…"
	}
	return before + text + after
}

// breaks reports whether a line is a part of a longer one that begins within a sentence.
func (b *body) breaks(i int) bool {
	return i > 0 && i < len(b.lines) && b.lines[i-1].to == b.lines[i].from && !endsSentence(b.at(i-1))
}

// between returns the text of some lines, which may be none.
func (b *body) between(from, to int) string {
	if from == to {
		return ""
	}
	return b.text[b.lines[from].from:b.lines[to-1].to]
}

// says reports whether a word or a mark is in some lines.
func (b *body) says(from, to int) bool { return strings.TrimSpace(b.between(from, to)) != "" }

// partLength returns the length of the first part of a long line, which ends behind a
// row, a sentence, a member or a word if there is one.
func partLength(s string, most int) int {
	s = quote.First(s, most)
	for _, end := range []string{"), ", "}, ", ". ", ", ", " "} {
		if i := strings.LastIndex(s, end); i > most/2 {
			return i + len(end)
		}
	}
	return len(s)
}

// definition finds the lines of code that begin a definition.
var definition = regexp.MustCompile(`^\s*(?:(?:export|default|pub(?:\([^)]*\))?|async|static|public|private|protected|final|abstract|override|unsafe|extern|inline|virtual) +)*` +
	`(?:def|func|fn|class|type|interface|struct|enum|impl|function|trait|module|namespace|macro)[ (<]|^` + diffHead)

// decorator finds the lines of code that say something of the definition below them.
var decorator = regexp.MustCompile(`^\s*(?:@\w|#\[|\[\w+(?:\(.*\))?\]$)`)

// closing finds the lines of code that only end a block or an element.
var closing = regexp.MustCompile(`^\s*(?:[])}]+[;,]?|</[\w.:-]*>[;,)]*|/>[;,)]*)$`)

// element finds lines of a page that are no more than the name of an element, or an attribute.
var element = regexp.MustCompile(`^\s*(?:</?[\w.:-]+/?>?|/?>|[\w:-]+="[^"]*")$`)

// codeFile finds the names of files of source code.
var codeFile = regexp.MustCompile(`(?i)(?:^|\.)(?:go|py|js|ts|tsx|jsx|rs|java|c|h|cc|cpp|hpp|cs|rb|php|kt|swift|scala|sh|bash|lua|pl|sql|vue|svelte|zig|ex|exs|dart|m)$`)

// binds reports whether a line of prose says that something must or must not be
// done.
func binds(s string) bool {
	return !codeMarks.MatchString(s) && (binding.MatchString(s) || slices.ContainsFunc(bindingForeign, func(w string) bool { return strings.Contains(s, w) }))
}

var (
	bindingForeign = []string{"禁止", "してはいけない", "しないで", "ください", "下さい", "ないこと", "必ず", "必须", "不要", "不得", "不能", "请勿", "нельзя", "müssen", "darf nicht", "никогда", "должен", "должн", "обязательно", "금지", "반드시", "주세요", "십시오", "всегда", "không được", "luôn", "phải", "يجب", "دائم", "لا تقم", "हमेशा", "कभी नहीं"}
	// binding finds words that always bind, and others where they begin a clause.
	binding = regexp.MustCompile(`(?i)\b(?:mustn?|unless|forbidden|niemals|muss|jamais|doit|interdit|nunca|debe|deve|devono|vietato|nooit|nigdy|musi|asla|mutlaka|(?:is|are|be) required)\b|` +
		`(?:^|[.:;!?,)]|\b(?:please|and|but|so|then|also|just|or|you))[\s*_\x60"'>#•(\d-]*\b(?:never|always|only|avoid|leave|keep|nie|immer|toujours|siempre|sempre|mai|altijd|zawsze|do not|don['’]t)\b`)
	// codeMarks finds what prose has not.
	codeMarks = regexp.MustCompile(`[{}]|\("| = `)
)
