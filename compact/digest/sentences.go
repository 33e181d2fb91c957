package digest

import (
	"iter"
	"strings"
)

// sentences yields each sentence of a text as text[from:to], but nothing of code
// between fences and of lines that are tags or JSON.
func sentences(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		fenced := false
		for at, next := 0, 0; at < len(text); at = next {
			end := lineEnds(text, at)
			next = end + 1
			line := strings.TrimSpace(text[at:end])
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				continue
			}
			if fenced || line == "" || isData(line) {
				continue
			}
			for wraps(text, at, end) {
				end = lineEnds(text, end+1)
				next = end + 1
			}
			for from := at; from < end; {
				to := from + sentenceLength(text[from:end])
				if !yield(from, to) {
					return
				}
				from = to
			}
		}
	}
}

// isData reports whether a line is a tag or JSON.
func isData(line string) bool {
	return line[0] == '<' && strings.IndexByte(line, ' ') < 0 || line[0] == '{' ||
		line[0] == '[' && len(line) > 1 && strings.IndexByte(`{["`, line[1]) >= 0
}

// lineEnds returns the index of the end of the line at an index.
func lineEnds(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// wraps reports whether a sentence continues behind the end of a line: the line is
// long, and a small letter follows.
func wraps(text string, from, end int) bool {
	return end-from >= 40 && end+1 < len(text) && class[text[end+1]] == lower && strings.IndexByte(".!?:;", text[end-1]) < 0
}

// sentenceLength returns the length of the sentence that a text begins with,
// with the blanks after it.
func sentenceLength(text string) int {
	for at := 0; ; {
		i := strings.IndexAny(text[at:], ".!?")
		if i < 0 {
			return len(text)
		}
		at += i + 1
		for at < len(text) && strings.IndexByte(`.!?)"'*`, text[at]) >= 0 {
			at++
		}
		if at < len(text) && (!isBlank(text[at]) || abbreviated(text[:at])) {
			continue
		}
		for at < len(text) && isBlank(text[at]) {
			at++
		}
		return at
	}
}

// abbreviated reports whether a text ends with an abbreviation, or with the
// number of a list item.
func abbreviated(text string) bool {
	word := text[strings.LastIndexByte(text, ' ')+1:]
	bare := strings.TrimSuffix(word, ".")
	if bare == "" || len(bare) == len(word) {
		return false
	}
	return len(bare) <= 2 && class[bare[0]]&(upper|digit) != 0 || abbreviations[bare] ||
		len(bare) <= 4 && strings.IndexByte(bare, '.') >= 0 && class[bare[0]]&(lower|upper) != 0 // e.g.
}

var abbreviations = setOf("Mrs Prof approx etc vs No")
