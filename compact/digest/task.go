package digest

import (
	"iter"
	"strings"

	"laconic/compact"
)

// wordSet holds words in lower case.
type wordSet map[string]bool

// minTerm is the length of the shortest word that can be a term of a task.
const minTerm = 4

// terms returns the terms of the task: the words of the user messages and of
// the recorded rules.
func (d *digest) terms() wordSet {
	w := wordSet{}
	for text := range d.userTexts() {
		w.add(text)
	}
	for _, line := range d.ruleLines {
		w.add(line)
	}
	return w
}

func (w wordSet) add(text string) {
	for from, to := range words(text) {
		if to-from >= minTerm {
			w[strings.ToLower(text[from:to])] = true
		}
	}
}

// in returns how many words of the set are in a text.
func (w wordSet) in(text string) int {
	found := wordSet{}
	for from, to := range words(text) {
		if word := strings.ToLower(text[from:to]); w[word] {
			found[word] = true
		}
	}
	return len(found)
}

// namedByUsers returns the names in user messages.
func (d *digest) namedByUsers() map[string]bool {
	in := map[string]bool{}
	for text := range d.userTexts() {
		for from, to := range names(text) {
			in[text[from:to]] = true
		}
	}
	return in
}

// userTexts yields the texts of user messages.
func (d *digest) userTexts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, list := range [][]compact.Message{d.lost, d.kept} {
			for i := range list {
				if list[i].Role == compact.User && !yield(textOf(&list[i])) {
					return
				}
			}
		}
	}
}
