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

// editDistance counts the letters to insert, remove or replace that make b of a; 1 where
// letters are only in another order.
func editDistance(a, b string) int {
	if x, y := []byte(a), []byte(b); a != b && len(a) == len(b) {
		slices.Sort(x)
		slices.Sort(y)
		if slices.Equal(x, y) {
			return 1
		}
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			if a[i] != b[j] {
				diagonal = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], diagonal
		}
	}
	return row[len(b)]
}
