package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"laconic/compact"
)

// edit is a call that replaces lines. Its model had to name them as they are.
type edit struct {
	message int // of the call
	old     []oldLine
}

// oldLine is a line that an edit replaces, without the blanks around it, and the
// last message before the edit's request that shows it.
type oldLine struct {
	text string
	last int
}

// editsOf finds the edits of a conversation, in order. An edit is left out if the
// messages of its request do not show all of its old lines: such lines are not
// lost by compacting. read are the texts of the messages, and points the lengths
// of the requests.
func editsOf(msgs []compact.Message, read [][]string, points []int) (edits []edit) {
	request := 0
	for i := range msgs {
		for ; len(points) > 0 && points[0] <= i; points = points[1:] {
			request = points[0]
		}
		for c := range msgs[i].Calls {
			e := edit{message: i}
			for _, text := range replacedBy(msgs[i].Calls[c].Arguments.String()) {
				e.old = append(e.old, oldLine{text: text})
			}
			if len(e.old) > 0 && e.find(read[:request]) {
				edits = append(edits, e)
			}
		}
	}
	return edits
}

// find finds the last message of a request that shows each old line. It reports
// whether there is one for all of them.
func (e *edit) find(read [][]string) bool {
	for n := range e.old {
		l := &e.old[n]
		for l.last = len(read) - 1; l.last >= 0 && !says(read[l.last], l.text); l.last-- {
		}
		if l.last < 0 {
			return false
		}
	}
	return true
}

// shownEdits returns how many edits have all of their old lines in a request,
// whichever message shows them. whole is as in retained.
func shownEdits(edits []edit, sent []compact.Message, whole []bool) (shown int) {
	var read [][]string // of the request
	there := func(l oldLine) bool {
		if whole[l.last] {
			return true
		}
		for len(read) < len(sent) {
			read = append(read, reading(&sent[len(read)]))
		}
		return slices.ContainsFunc(read, func(texts []string) bool { return says(texts, l.text) })
	}
	for i := range edits {
		if !slices.ContainsFunc(edits[i].old, func(l oldLine) bool { return !there(l) }) {
			shown++
		}
	}
	return shown
}

// says reports whether one of the texts holds another.
func says(texts []string, s string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, s) })
}

// reading returns the texts of a message without the escapes of JSON.
func reading(m *compact.Message) (all []string) {
	for _, t := range texts(m) {
		var v any
		if s := strings.TrimSpace(t); s != "" && (s[0] == '{' || s[0] == '[') && json.Unmarshal([]byte(s), &v) == nil {
			walk("", v, func(_, text string) { all = append(all, text) })
		} else {
			all = append(all, t)
		}
	}
	return all
}

// replacedBy returns the lines that a call replaces and that are not blank: those of the
// arguments that hold an old text, of SEARCH blocks, and the removed ones of patches.
func replacedBy(arguments string) (lines []string) {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		v = arguments
	}
	walk("", v, func(name, text string) {
		if !slices.Contains(oldTexts, strings.ToLower(strings.ReplaceAll(name, "_", ""))) {
			text = removedBy(text)
		}
		for l := range strings.Lines(text) {
			if l = strings.TrimSpace(l); l != "" {
				lines = append(lines, l)
			}
		}
	})
	return lines
}

// oldTexts are the arguments of editing tools that hold the text to be replaced,
// in lower case and without underscores.
var oldTexts = []string{"oldstring", "oldstr", "oldtext", "search"}

// removedBy returns the lines that the patches and SEARCH blocks in a text remove.
func removedBy(text string) string {
	var removed strings.Builder
	var patch, search bool
	for l := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(l, "<<<<<<< SEARCH"), strings.HasPrefix(l, "------- SEARCH"):
			search = true
		case strings.HasPrefix(l, "======="):
			search = false
		case search:
			removed.WriteString(l)
		case strings.HasPrefix(l, "*** Update File: "), strings.HasPrefix(l, "@@"):
			patch = true
		case strings.HasPrefix(l, "*** "), strings.HasPrefix(l, "--- a/"):
			patch = false
		case patch && l[0] == '-':
			removed.WriteString(l[1:])
		}
	}
	return removed.String()
}
