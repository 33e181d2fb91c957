package compact

import "slices"

// repeats finds what later messages make superfluous. It reads every message
// once in the life of a draft.
type repeats struct {
	resultsRead, instructionsRead int // messages before them were read

	byCall map[callText]callResults
	byText map[string]Ref
	stale  []Ref // results that a later one supersedes

	byInstruction map[string]int
	repeated      []int // instructions that a later message repeats
}

// callText identifies calls that ask for the same.
type callText struct{ name, arguments string }

// callResults are the results of one call that nothing supersedes yet: the good
// copy, and the last one that could not replace it; 0 for none, because a call is first.
type callResults struct{ good, last int }

// Superseded returns the texts of old tool results that are superfluous, oldest
// first: a later result has the same content, or is of the same call (same
// tool, same arguments) and supersedes reports true for the two. supersedes
// must be pure. A text that was rewritten is never returned again.
func (d *Draft) Superseded(supersedes func(older, newer Text) bool) []Ref {
	r := &d.repeats
	for ; r.resultsRead < d.end; r.resultsRead++ {
		if d.msgs[r.resultsRead].Role.Result() {
			d.readResult(r.resultsRead, supersedes)
		}
	}
	var old []Ref
	r.stale = slices.DeleteFunc(r.stale, func(ref Ref) bool {
		if d.removed(ref.Message) || d.pinned[ref.Message] || d.msgs[ref.Message].Edited {
			return true
		}
		if ref.Message < d.recent {
			old = append(old, ref)
		}
		return false
	})
	slices.SortFunc(old, func(a, b Ref) int { return a.Message - b.Message })
	return old
}

// readResult finds what result i supersedes.
func (d *Draft) readResult(i int, supersedes func(older, newer Text) bool) {
	r, m := &d.repeats, &d.msgs[i]
	if len(m.Parts) != 1 || m.Parts[0].Kind != KindText || m.Edited {
		return
	}
	text := m.Parts[0].Text
	if c := d.CallOf(i); c != nil {
		arguments, _ := c.Arguments.Source()
		key := callText{c.Name, arguments}
		same := r.byCall[key]
		for _, was := range []*int{&same.good, &same.last} {
			if *was > 0 && supersedes(d.msgs[*was].Parts[0].Text, text) {
				r.stale = append(r.stale, Ref{*was, 0})
				*was = 0
			}
		}
		if same.good == 0 {
			same.good = i
		} else {
			same.last = i
		}
		r.byCall[key] = same
	}
	source, _ := text.Source()
	if was, ok := r.byText[source]; ok {
		r.stale = append(r.stale, was)
	}
	r.byText[source] = Ref{i, 0}
}

// repeatedInstructions returns old instructions that a later message repeats
// word for word and that may leave: no pins, none at the head of the list, and
// none whose neighbours may not follow each other. Each is returned once.
func (d *Draft) repeatedInstructions() (found []int) {
	r := &d.repeats
	for ; r.instructionsRead < d.end; r.instructionsRead++ {
		i := r.instructionsRead
		m := &d.msgs[i]
		if m.Role.Instruction() && d.exchanges.before[i] >= 0 && len(m.Parts) == 1 && m.Parts[0].Kind == KindText {
			text := m.Parts[0].Text.String()
			if was, ok := r.byInstruction[text]; ok {
				r.repeated = append(r.repeated, was)
			}
			r.byInstruction[text] = i
		}
	}
	r.repeated = slices.DeleteFunc(r.repeated, func(i int) bool {
		if i >= d.recent {
			return false
		}
		// Decided once: the neighbours of an old message are old.
		if !d.pinned[i] && d.joinsWithout(i) {
			found = append(found, i)
		}
		return true
	})
	return found
}
