package digest

import "strings"

// skip counts a step of which nothing else is told. The record names edits, failures and
// actions, in a few words with their end, as far as their share of the room goes, and
// what the user refused.
func (w *writer) skip(e *event, late string) {
	w.writeStep()
	w.skipped++
	if e.kind != edits && e.outcome.verdict < failed && (e.kind != other || !e.mayAct()) {
		return
	}
	text := e.name(nameChars)
	if e.path != "" { // which is told whole
		text = e.name(labelChars)
	}
	if e.outcome.verdict == refused {
		text += e.ended()
	} else {
		text += strings.TrimSuffix(cutAt(e.ended(), shortEnd), " →") // nothing of it is told
	}
	if w.left -= len(text); w.left >= 0 || e.outcome.verdict == refused {
		w.names = append(w.names, w.short(late+text, e.path))
	}
}

// Names of edits, failures and actions take together one in namesShare bytes of the room above
// smallRoom: in a small part the words of users need it.
const (
	namesShare = 6
	smallRoom  = 4000
)

// shortEnd is the length of ends that are told of steps that are only named.
const shortEnd = 60
