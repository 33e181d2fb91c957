package digest

import (
	"strings"

	"laconic/compact"
)

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
