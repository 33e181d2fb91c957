package config

import (
	"cmp"
	"strings"
)

// DidYouMean returns a hint with the nearest known word, else with all.
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are " + cmp.Or(strings.Join(known, ", "), "none")
}

// Nearest returns the known word that was probably meant, "" if none is near
// enough: a third of its letters may differ.
func Nearest(name string, known []string) string {
	plain := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	best, least := "", 0
	for _, k := range known {
		if len(plain) > 2*len(k)+2 {
			continue
		}
		d := editDistance(plain, strings.ToLower(strings.ReplaceAll(k, "-", "_")))
		if d <= max(1, len(k)/3) && d < len(k) && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// editDistance counts the letters to insert, remove or replace that make b of a.
func editDistance(a, b string) int {
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
