package tokenize

import (
	"fmt"
	"strings"
)

// UnknownError says that no tokenizer has the name that was asked for.
type UnknownError struct {
	Name    string   // what was asked for
	Nearest string   // the known name that was probably meant; "" where none is near
	Known   []string // every known name, in order
}

// Error returns one sentence for the user: the wrong name, the nearest known one, and all known ones.
func (e *UnknownError) Error() string {
	name := e.Name
	if len(name) > longestName {
		name = name[:longestName] + "…"
	}
	meant := ""
	if e.Nearest != "" {
		meant = fmt.Sprintf(", did you mean %q?", e.Nearest)
	}
	return fmt.Sprintf("unknown tokenizer %q%s (known: %s)", name, meant, strings.Join(e.Known, ", "))
}

// longestName bounds how much of a wrong name is compared and printed: it may come from a client.
const longestName = 64

func unknown(name string) *UnknownError {
	names := Names()
	return &UnknownError{Name: name, Nearest: nearest(name, names), Known: names}
}

// nearest returns the known name that begins with the wrong one, else the one that takes the fewest changes, at most a third of
// its letters; the first of several.
func nearest(name string, known []string) (best string) {
	name = strings.ToLower(name[:min(len(name), longestName)])
	for _, k := range known {
		if k == name || best == "" && name != "" && strings.HasPrefix(k, name) {
			best = k
		}
	}
	if best != "" {
		return best
	}
	fewest := -1
	for _, k := range known {
		if d := distance(name, k); fewest < 0 || d < fewest {
			fewest, best = d, k
		}
	}
	if fewest > max(1, len(best)/3) {
		return ""
	}
	return best
}

// distance returns how many bytes must be put in, taken out or replaced to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
