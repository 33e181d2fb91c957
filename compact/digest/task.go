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

// terms returns what the task is about: the words of the user messages and of
// the recorded rules.
func (d *digest) terms() wordSet {
	w := wordSet{}
	for _, list := range [][]compact.Message{d.lost, d.kept} {
		for i := range list {
			if list[i].Role == compact.User {
				w.add(textOf(&list[i]))
			}
		}
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

// words yields each run of letters text[from:to].
func words(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(text); {
			if class[text[i]]&(lower|upper) == 0 {
				i++
				continue
			}
			j := i + 1
			for j < len(text) && class[text[j]]&(lower|upper) != 0 {
				j++
			}
			if !yield(i, j) {
				return
			}
			i = j
		}
	}
}

// namedByUsers returns the names in user messages.
func (d *digest) namedByUsers() map[string]bool {
	in := map[string]bool{}
	for _, list := range [][]compact.Message{d.lost, d.kept} {
		for i := range list {
			if list[i].Role == compact.User {
				text := textOf(&list[i])
				for from, to := range names(text) {
					in[text[from:to]] = true
				}
			}
		}
	}
	return in
}
