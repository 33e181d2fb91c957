package compact

import "slices"

// older finds out what later messages made superfluous. It reads every message
// once in the life of a draft: the results for one stage, instructions for it
// or another.
type older struct {
	results, heads int // messages before them were read
	byCall         map[callText]sameCall
	byText         map[string]Ref
	byHead         map[string]int
	stale          []Ref // results that a later one supersedes
	repeated       []int // instructions in mid-list that a later one repeats
	body           bool  // a message that is no instruction was read
}

// callText is what makes two calls the same call.
type callText struct{ name, arguments string }

// sameCall are the results of one call that nothing supersedes yet: the good
// copy, and the last one that could not stand for it; -1 for none.
type sameCall struct{ good, last int }

// Superseded lists the texts of old tool results that a later result with the
// same content made superfluous, or one of the same call (same tool, same
// arguments) of which supersedes says so, oldest first. supersedes must be pure.
// A text that was rewritten does not come back.
func (d *Draft) Superseded(supersedes func(older, newer Text) bool) []Ref {
	o := &d.older
	if o.byCall == nil {
		o.byCall, o.byText = map[callText]sameCall{}, map[string]Ref{}
	}
	for ; o.results < d.end; o.results++ {
		if d.msgs[o.results].Role.Result() {
			d.readResult(o.results, supersedes)
		}
	}
	var old []Ref
	o.stale = slices.DeleteFunc(o.stale, func(r Ref) bool {
		if d.removed(r.Message) || d.pinned[r.Message] || d.msgs[r.Message].Edited {
			return true
		}
		if r.Message < d.recent {
			old = append(old, r)
		}
		return false
	})
	slices.SortFunc(old, func(a, b Ref) int { return a.Message - b.Message })
	return old
}

// DropRepeated removes the instructions in mid-list that a later message
// repeats word for word, as clients leave them that send their instructions
// anew each turn. The newest stays, and so does the head of the list.
func (d *Draft) DropRepeated(why string) {
	d.readHeads()
	before, by := d.total, d.reason(why)
	d.older.repeated = slices.DeleteFunc(d.older.repeated, func(i int) bool {
		if i >= d.recent {
			return false
		}
		if d.pinned[i] || !d.joinsWithout(i) {
			return true // decided once: what stands around it is old
		}
		d.setRemoved(i, by)
		d.must -= d.whole[i]
		d.musts--
		d.growth[d.stage]++
		return true
	})
	d.saved[d.stage] += before - d.total
}

// joinsWithout reports whether the neighbours of message i may follow each
// other. In the gap the message before it is known; else all that is read is
// what arrived since.
func (d *Draft) joinsWithout(i int) bool {
	x, y := i-1, i+1
	for x >= 0 && (d.removed(x) || d.msgs[x].Role.Head()) {
		if g := &d.gap; g.open && x < g.to && g.at.last <= x {
			x = g.at.last // nothing else is left of the gap before x
			break
		}
		x--
	}
	for y < d.end && (d.removed(y) || d.msgs[y].Role.Head()) {
		y++
	}
	if x < 0 || y >= d.end {
		return false
	}
	return d.joins(int(d.parts.start[x]), y)
}

// readHeads reads the instructions that became visible since it was asked last.
func (d *Draft) readHeads() {
	o := &d.older
	if o.byHead == nil {
		o.byHead = map[string]int{}
	}
	for ; o.heads < d.end; o.heads++ {
		i := o.heads
		m := &d.msgs[i]
		if m.Role.Head() && len(m.Parts) == 1 && m.Parts[0].Kind == KindText && o.body {
			text := m.Parts[0].Text.String()
			if was, ok := o.byHead[text]; ok {
				o.repeated = append(o.repeated, was)
			}
			o.byHead[text] = i
		}
		o.body = o.body || !m.Role.Head()
	}
}

// readResult notes what result i supersedes.
func (d *Draft) readResult(i int, supersedes func(older, newer Text) bool) {
	o, m := &d.older, &d.msgs[i]
	if len(m.Parts) != 1 || m.Parts[0].Kind != KindText || m.Edited {
		return
	}
	here, text := Ref{i, 0}, m.Parts[0].Text
	if c := d.CallOf(i); c != nil {
		arguments, _ := c.Arguments.Source()
		key := callText{c.Name, arguments}
		same, again := o.byCall[key]
		if !again {
			same = sameCall{-1, -1}
		}
		for _, was := range []*int{&same.good, &same.last} {
			if *was >= 0 && supersedes(d.msgs[*was].Parts[0].Text, text) {
				o.stale = append(o.stale, Ref{*was, 0})
				*was = -1
			}
		}
		if same.good < 0 {
			same.good = i
		} else {
			same.last = i
		}
		o.byCall[key] = same
	}
	source, _ := text.Source()
	if was, ok := o.byText[source]; ok {
		o.stale = append(o.stale, was)
	}
	o.byText[source] = here
}

// CallOf is the call that result i answers: the first of its exchange with its
// id; nil where there is none. In an exchange of very many calls only those near
// its place are looked at, so that reading stays linear. It must not be changed.
func (d *Draft) CallOf(i int) *Call {
	start := int(d.parts.start[i])
	calls := d.msgs[start].Calls
	const near = 64
	at := i - start - 1
	for k := max(0, at-near); k < min(len(calls), at+near+1); k++ {
		if matches(&calls[k], &d.msgs[i]) {
			return &calls[k]
		}
	}
	return nil
}
