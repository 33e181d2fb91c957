package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	File    string `json:"file"`             // or the flag or variable that a value came from
	Line    int    `json:"line,omitempty"`   // from 1; 0: the file as a whole, or no file
	Column  int    `json:"column,omitempty"` // from 1, in characters
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error returns the problem in one line: file:line:column: message (hint).
func (p Problem) Error() string {
	place, hint := cmp.Or(p.File, "configuration"), ""
	if p.Line > 0 {
		place += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	if p.Hint != "" {
		hint = " (" + p.Hint + ")"
	}
	return place + ": " + p.Message + hint
}

// Problems is everything that is wrong with a configuration, in the order of
// the file.
type Problems []Problem

// mostShown bounds how many problems Error writes out.
const mostShown = 50

// Error returns all problems, a line each.
func (ps Problems) Error() string {
	return strings.Join(ps.Lines(), "\n")
}

// Lines returns all problems, each in one line.
func (ps Problems) Lines() (lines []string) {
	for i, p := range ps {
		if i == mostShown {
			return append(lines, fmt.Sprintf("and %d more", len(ps)-i))
		}
		lines = append(lines, p.Error())
	}
	return lines
}

// ProblemsOf returns the problems of a file that an error names: those that it is, or
// itself as one.
func ProblemsOf(file string, err error) (ps Problems) {
	if err != nil && !errors.As(err, &ps) {
		ps = Problems{{File: file, Message: err.Error()}}
	}
	return ps
}

// place is where a key of the configuration was written.
type place struct {
	from   string     // the file, the flag or the variable
	key    *yaml.Node // nil for an item of a list
	node   *yaml.Node // the value
	broken bool       // the value could not be read; a problem says so already
}

func problemAt(from string, n *yaml.Node, message, hint string) Problem {
	return Problem{File: from, Line: n.Line, Column: n.Column, Message: message, Hint: hint}
}

// problems puts what was found in the order of the file. A part of the file that is
// used twice is complained about once.
func problems(found []Problem) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	seen := map[Problem]bool{}
	return Problems(slices.DeleteFunc(found, func(p Problem) bool {
		again := seen[p]
		seen[p] = true
		return again
	}))
}

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
