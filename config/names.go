package config

import (
	"slices"
	"strings"
)

// Names of the configuration: which exist, and which one was probably meant.

// keyHint helps with a key that is not known: the sibling that was probably meant,
// else the map that such a key belongs in.
func keyHint(name string, siblings []string) string {
	if near := Nearest(name, siblings); near != "" {
		return "did you mean " + near + "?"
	}
	for _, home := range homes {
		if schemaAt(home.path).Properties[name] != nil {
			return "it belongs " + home.place
		}
	}
	return ""
}

// homes are the maps of the configuration in which a key may belong.
var homes = []struct{ path, place string }{
	{"models[]", "in a row of models"},
	{"", "at the top of the file"},
	{"policies.NAME", "in a policy"},
	{"policies.NAME.keep_recent", "in keep_recent of a policy"},
	{"policies.NAME.pin", "in pin of a policy"},
	{"limits", "in limits"},
	{"log", "in log"},
	{"summarizer", "in summarizer"},
	{"store", "in store"},
	{"tls", "in tls"},
}

// DidYouMean returns a hint with the nearest known word and all others.
func DidYouMean(name string, known []string) string {
	all := strings.Join(known, ", ")
	if near := Nearest(name, known); near != "" {
		return "did you mean " + near + "? known are " + all
	}
	return "it is one of " + all
}

// Nearest returns the known word that was probably meant, "" if none is near
// enough: a third of its letters may differ, or its end is missing.
func Nearest(name string, known []string) string {
	plain := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	best, least := "", 0
	for _, k := range known {
		if k == "" || len(plain) > 2*len(k)+2 {
			continue
		}
		d := editDistance(plain, strings.ToLower(strings.ReplaceAll(k, "-", "_")))
		if d <= max(1, len(k)/3) && d < len(k) && (best == "" || d < least) {
			best, least = k, d
		}
	}
	if best == "" && len(plain) >= 4 {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, plain) }); i >= 0 {
			return known[i]
		}
	}
	return best
}

// editDistance counts the letters to insert, remove, replace or swap with their
// neighbour that make b of a.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			differ := 1
			if x[i-1] == y[j-1] {
				differ = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(y)]
}
