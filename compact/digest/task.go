package digest

import "strings"

// task is what users speak of, the rules of the files that they name, and the
// recorded rules.
type task struct {
	words wordSet
	names map[string]bool
}

func newTask() task { return task{wordSet{}, map[string]bool{}} }

// maxTerms bounds the memory of a task: further words and names are passed over.
const maxTerms = 1 << 14

// read adds the text of a user.
func (t *task) read(s *source) {
	t.words.add(s.text)
	for from, to := range names(s.text) {
		if len(t.names) < maxTerms {
			t.names[s.text[from:to]] = true
		}
	}
}

// wordSet holds words in lower case.
type wordSet map[string]bool

// minTerm is the length of the shortest word that can be a term of a task.
const minTerm = 4

func (w wordSet) add(text string) {
	for from, to := range words(text) {
		if to-from >= minTerm && len(w) < maxTerms {
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
