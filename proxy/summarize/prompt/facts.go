package prompt

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/compact"
	"laconic/proxy/summarize/redact"
)

// Lost returns what users said and a summary does not: sentences
// that demand or forbid something, and numbers, paths and names; newest first,
// word for word, none twice. They are looked for as strings:
// a rule in other words counts as lost.
func Lost(said []string, text string, mask bool) (rules, names []string) {
	flat := " " + strings.Join(strings.Fields(text), " ") + " "
	seen := map[string]bool{}
	keep := func(list *[]string, s string) {
		if !seen[s] && len(*list) < mostFacts && !hasWord(flat, s) {
			*list = append(*list, s)
		}
		seen[s] = true
	}
	for _, one := range slices.Backward(said) {
		one = cleaned(strings.ToValidUTF8(one, ""))
		if mask {
			one = redact.Text(one)
		}
		for _, s := range sentences(one) {
			if rule.MatchString(s) {
				keep(&rules, s)
			}
		}
		apart := func(r rune) bool { return r <= ' ' || strings.ContainsRune("()[]{}<>,;`|\"\u3000", r) }
		for _, word := range strings.FieldsFunc(one, apart) {
			if word = strings.Trim(word, `.,;:!?'"*`); worthKeeping(word) {
				keep(&names, word)
			}
		}
	}
	return rules, names
}

// hasWord reports whether s is in a text on its own: 80 is not in 8080.
func hasWord(text, s string) bool {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(s)
		if !(at > 0 && redact.InWord(text[at-1]) && redact.InWord(s[0])) && !(end < len(text) && redact.InWord(text[end]) && redact.InWord(s[len(s)-1])) {
			return true
		}
	}
}

// mostFacts bounds each list: a user may paste a log.
const mostFacts = 400

// longestRule is the length above which a sentence is no rule but a text.
const longestRule = 300

// rule finds what demands or forbids, in some languages that people write to
// agents in.
var rule = regexp.MustCompile(`(?i)\b(?:must|never|always|do not|don't|cannot|can't|may not|shall|should not|only|required|forbidden|` +
	`muss|müssen|darf|dürfen|nie|niemals|immer|nicht|nur|doit|doivent|jamais|toujours|interdit|debe|deben|nunca|siempre|deve|sempre|mai)\b` +
	`|必须|务必|不要|不得|禁止|绝不|只能|しない|必ず|禁止|должен|должны|нельзя|никогда|всегда|только`)

// sentence matches one of a line. A dot inside a name ends none.
var sentence = regexp.MustCompile(`.*?[.!?](?: |$)|.+`)

// sentences returns the sentences of a text, each on one line.
func sentences(s string) (all []string) {
	for _, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '。' || r == '！' || r == '？' }) {
		for _, one := range sentence.FindAllString(line, -1) {
			if one = strings.Join(strings.Fields(one), " "); len(one) > 8 && len(one) <= longestRule {
				all = append(all, one)
			}
		}
	}
	return all
}

// worthKeeping reports whether a word is a number of more than one digit, a path,
// or a name that nobody could guess: one with a digit or with a mark inside.
func worthKeeping(w string) bool {
	n := utf8.RuneCountInString(w)
	if n < 2 || n > 160 {
		return false
	}
	digits := strings.ContainsAny(w, "0123456789")
	letters := strings.ContainsFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F })
	return digits || letters && n > 3 && strings.ContainsAny(w[1:len(w)-1], "/_\\@=:#.")
}

// Said returns what users say in messages, as TextOf does.
func Said(runs ...[]compact.Message) (texts []string) {
	for _, run := range runs {
		for i := range run {
			if run[i].Role == compact.User {
				texts = append(texts, TextOf(&run[i]))
			}
		}
	}
	return texts
}

// TextOf returns the text of messages, a line for each part. It is a copy and
// does not keep alive what the messages were read from.
func TextOf(msgs ...*compact.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		for i := range m.Parts {
			if m.Parts[i].Kind == compact.KindText {
				b.WriteString(m.Parts[i].Text.String())
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
