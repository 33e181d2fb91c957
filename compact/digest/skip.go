package digest

import (
	"regexp"
	"slices"
	"strings"
)

// onlyAnd finds that what follows ran, if all of a command line passed.
var onlyAnd = regexp.MustCompile(`^\$ (?:[^|;'"<>(){}\n]*&& )?$`)

// skip counts a step of which nothing else is told. The record names it, in a few
// words with its end, if it was chosen or the model has to know of it, and edits and
// failures as far as their share of the room goes.
func (w *writer) skip(e *event, late string, on bool) {
	w.writeStep()
	w.skipped++
	text := e.name(labelChars)
	at := landmark.FindStringIndex(text)
	isDone := at != nil && e.kind == runs && e.answered && e.outcome.verdict <= passed && onlyAnd.MatchString(text[:at[0]])
	undoes := slices.ContainsFunc(e.changes, func(c change) bool { return c.how == restored || c.path == everyFile && c.how != touched })
	known := on || isDone || undoes || e.outcome.verdict == refused // the model has to know of it
	acts := e.kind == other && e.mayAct() && effects.MatchString(e.verb)
	if e.kind == tracks || !known && !acts && e.kind != edits && e.outcome.verdict != failed {
		return
	}
	switch {
	case isDone && at[0] > len("$ "):
		text = e.marked(OneLine("$ … "+text[at[0]:], nameChars))
	case e.kind != edits: // whose path is told whole
		if at := strings.Index(" "+text, " "+e.path); len(text) > nameChars && e.path != "" && at >= 0 {
			text = text[:at] + lastFolder(e.path) + text[at+len(e.path):]
		}
		chars := nameChars
		if e.kind == other { // on what it acts stands behind
			chars *= 2
		}
		text = e.marked(OneLine(text, chars))
	}
	whole := e.path + text // two files may be named alike
	switch ended := e.ended(); {
	case e.outcome.verdict == refused, undoes:
		text += ended
	case e.kind == reads && w.files.later(e) != nil: // it says what no longer is
	case isDone, e.kind == edits, e.outcome.verdict == failed, e.outcome.says != "", e.inLabel() && e.result.text != "":
		text += strings.TrimSuffix(cutAt(ended, shortEnd), " →")
	}
	text = late + text
	if w.read[whole] || slices.Contains(w.names, whole) {
		return
	}
	if !known {
		if w.left -= len(text); w.left < 0 {
			return
		}
	}
	w.names, w.shown = append(w.names, whole), append(w.shown, w.short(text, e.path))
	w.read[whole] = e.kind == reads
}

// lastFolder returns a path from its last folder on, which says more than its first ones.
func lastFolder(path string) string {
	at := strings.LastIndexByte(path, '/')
	if at = strings.LastIndexByte(path[:max(0, at)], '/'); at <= 0 {
		return path
	}
	return "…" + path[at:]
}

// Names of edits, failures and actions take together one in namesShare bytes of the room above
// smallRoom: in a small part the words of users need it.
const (
	namesShare = 6
	smallRoom  = 4000
)

// shortEnd is the length of ends that are told of steps that are only named.
const shortEnd = 60
