package digest

import (
	"regexp"
	"slices"
	"strings"
)

// onlyAnd finds that what follows ran, if all of a command line passed.
var onlyAnd = regexp.MustCompile(`^\$ (?:[^|;'"<>(){}\n]*&& )?$`)

// folders finds the folders of files in a command.
var folders = regexp.MustCompile(`((?:^|[\s'"=]))(?:[^\s'"=:/]*/){2,}([^\s'"=:/]*\.\w)`)

// name is what is told of a step that was not chosen.
type name struct {
	text string
	path string
	rank int // 0: always told
}

// skip notes that a step was not chosen. The record names it, in a few words, and
// says how it ended or the line of its result that matters most.
func (w *writer) skip(e *event, brief string, on bool) {
	w.skipped++
	text := e.name(labelChars)
	at := landmark.FindStringIndex(text)
	isDone := at != nil && e.kind == runs && e.outcome.verdict == passed && onlyAnd.MatchString(text[:at[0]])
	switch {
	case isDone && at[0] > len("$ "):
		text = e.marked(OneLine("$ … "+text[at[0]:], nameChars))
	case e.kind != edits: // whose path is told whole
		if len(text) > nameChars && len(e.changes) == 0 {
			text = folders.ReplaceAllString(text, "$1…/$2")
		}
		text = e.marked(OneLine(text, nameChars))
	}
	n := name{text, e.path, 3}
	switch ended := e.ended(); {
	case e.kind == tracks:
		return
	case e.outcome.verdict == refused, slices.ContainsFunc(e.changes, func(c change) bool { return c.how == restored || c.path == everyFile && c.how != touched }):
		n.text, n.rank = n.text+ended, 0
	case isDone:
		n.text, n.rank = n.text+cutAt(ended, shortEnd), 0
	case e.kind == edits, e.outcome.verdict == failed:
		n.text, n.rank = n.text+cutAt(ended, shortEnd), 1
	case e.outcome.says != "" || e.inLabel() && e.result.text != "":
		n.text, n.rank = n.text+cutAt(ended, shortEnd), 2
	case (e.kind == searches || e.kind == runs) && brief != "":
		n.text, n.rank = n.text+" → "+e.lineOf(OneLine(brief, shortEnd)), 2
	}
	if on {
		n.rank = 0
	}
	if !w.read[n.text] && !slices.ContainsFunc(w.names, func(other name) bool { return other.text == n.text }) {
		w.names = append(w.names, n)
		w.read[n.text] = e.kind == reads
	}
}

// shortEnd is the length of ends that are told of steps that are only named.
const shortEnd = 60

// namesShare is the part of the room that names of steps take together, one in so many.
const namesShare = 5

// chosenNames returns the names of the skipped steps as far as their share of the room
// goes: edits and failures come first, then steps with an end.
func (w *writer) chosenNames() string {
	left, told := w.tried*w.skipped/(namesShare*len(w.events)), make([]bool, len(w.names))
	if w.terse {
		left = 0
	}
	for rank := range 4 {
		for i, n := range w.names {
			if told[i] = told[i] || n.rank == rank && (rank == 0 || left > 0); n.rank == rank && told[i] {
				left -= len(n.text)
			}
		}
	}
	var texts []string
	for i, n := range w.names {
		if told[i] {
			texts = append(texts, w.short(n.text, n.path))
		}
	}
	return strings.Join(texts, "; ")
}
