package compact

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// CallRef names one call of one message of a draft.
type CallRef struct{ Message, Call int }

// Arguments yields the old calls whose arguments may be edited, oldest first,
// each once to each stage in the life of a draft. Calls that carry a signature,
// and calls of messages that do, are not among them.
func (d *Draft) Arguments() iter.Seq2[CallRef, Call] {
	return func(yield func(CallRef, Call) bool) {
		stop := min(d.recent, d.end)
		for i := d.cursor[d.stage]; i < stop; i++ {
			d.cursor[d.stage] = i
			m := &d.msgs[i]
			if d.removed(i) || d.pinned[i] || m.Role != Assistant || m.Sealed || m.Open {
				continue
			}
			for c := range m.Calls {
				if call := d.msgs[i].Calls[c]; !call.Sealed && !yield(CallRef{i, c}, call) {
					return
				}
			}
		}
		d.cursor[d.stage] = max(d.cursor[d.stage], stop)
	}
}

// LastArguments lists the recent calls whose arguments may be edited by
// CutArguments, oldest first; nil where the draft fits.
func (d *Draft) LastArguments() (refs []CallRef) {
	for i := d.recent; i < d.end && d.Excess() > 0; i++ {
		if d.msgs[i].Role == Assistant && d.editable(i, true) {
			for c := range d.msgs[i].Calls {
				refs = append(refs, CallRef{i, c})
			}
		}
	}
	return refs
}

// Call is a call as it is now.
func (d *Draft) Call(r CallRef) Call { return d.msgs[r.Message].Calls[r.Call] }

// RewriteArguments replaces the arguments of an old call, if that saves tokens,
// and reports whether it did. What was a JSON object must be one again:
// upstreams refuse anything else, or silently empty it.
func (d *Draft) RewriteArguments(r CallRef, arguments, why string) bool {
	return d.editable(r.Message, false) && d.replaceArguments(r, Edit{Text: arguments, Why: why})
}

// CutArguments is RewriteArguments for calls that LastArguments listed.
func (d *Draft) CutArguments(r CallRef, arguments, why string) bool {
	return d.editable(r.Message, true) && d.replaceArguments(r, Edit{Text: arguments, Why: why, Last: d.lastly(r.Message)})
}

func (d *Draft) replaceArguments(r CallRef, e Edit) bool {
	m := &d.msgs[r.Message]
	if r.Call < 0 || r.Call >= len(m.Calls) || m.Calls[r.Call].Sealed {
		return false
	}
	old := m.Calls[r.Call]
	call := old
	call.Arguments = Plain(e.Text)
	e.Saved = d.counter.Call(&old) - d.counter.Call(&call)
	if e.Saved <= 0 || isObject(old.Arguments.String()) && !isObject(e.Text) {
		return false
	}
	m.Calls = slices.Clone(m.Calls)
	m.Calls[r.Call] = call
	e.Op, e.Part, e.ID = OpArguments, r.Call, old.ID
	d.note(r.Message, e)
	return true
}

// isObject reports whether a text is a JSON object.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// Messages is how many messages are visible.
func (d *Draft) Messages() int { return d.end }

// Message is message i of the repaired list as it is now. It must not be
// changed.
func (d *Draft) Message(i int) *Message { return &d.msgs[i] }

// Exchange is the run [start, end) that leaves together with message i.
func (d *Draft) Exchange(i int) (start, end int) {
	start = int(d.parts.start[i])
	return start, d.parts.endOf(start)
}

// Leave removes the exchange that starts at message i whole, and tells whether
// it did: instructions and pins stay. It is for policies that are known by
// their own rule of what leaves; it does not look after the first and the
// newest user message, nor after the roles that come to stand side by side.
func (d *Draft) Leave(i int, why string) bool {
	start, end := d.Exchange(i)
	if i != start || d.removed(i) || d.pinned[i] || d.msgs[i].Role.Head() {
		return false
	}
	before, by := d.total, d.reason(why)
	for k := start; k < end; k++ {
		d.setRemoved(k, by)
	}
	d.saved[d.stage] += before - d.total
	d.growth[d.stage]++
	return true
}

// Fill makes a slot of size tokens for what has left so far. label heads a
// summary in it; "": the frame's own words. What left before the last exchanges
// that did is what the slot of an earlier request stood for, most likely, so
// these are its Earlier.
func (d *Draft) Fill(by Digester, size int, label string) {
	if d.placement == PlaceNone {
		return
	}
	var ends []int // of the exchanges that left, newest first
	for i := d.end; i > 0 && len(ends) <= mostEarlier; i-- {
		if d.removed(i-1) && (i == d.end || int(d.parts.start[i]) == i) {
			ends = append(ends, i)
		}
	}
	slices.Reverse(ends)
	d.total += size
	d.put(&slotDraft{
		to: d.end, size: size, end: d.end, by: by, filled: true, label: label, earlier: ends[:max(0, len(ends)-1)],
	})
}

// mostEarlier is how many slots of earlier requests a slot may build upon, where
// every request has another.
const mostEarlier = 16

// Media lists the old images, sounds and files that may become a line of text,
// oldest first. Those of the first and the newest user message stay.
func (d *Draft) Media() []Ref {
	var old []Ref
	d.media = slices.DeleteFunc(d.media, func(r Ref) bool {
		if d.removed(r.Message) || d.settled(r.Message) || d.Part(r).Kind == KindText {
			return true
		}
		if r.Message < d.recent && r.Message != d.newest {
			old = append(old, r)
		}
		return false
	})
	return old
}

// settled reports whether no part of message i may ever become a line of text.
func (d *Draft) settled(i int) bool {
	m := &d.msgs[i]
	return d.pinned[i] || i == d.first || m.Role.Head() || m.Sealed || m.Open
}

// Part is a part as it is now.
func (d *Draft) Part(r Ref) Part { return d.msgs[r.Message].Parts[r.Part] }

// ReplaceMedia makes a part that Media lists a line of text, if that saves
// tokens, and reports whether it did.
func (d *Draft) ReplaceMedia(r Ref, text, why string) bool {
	if i := r.Message; i < 0 || i >= min(d.end, d.recent) || i == d.newest || d.removed(i) || d.settled(i) {
		return false
	}
	if parts := d.msgs[r.Message].Parts; r.Part < 0 || r.Part >= len(parts) || !parts[r.Part].Kind.media() {
		return false
	}
	return d.replace(r, Edit{Op: OpMedia, Text: text, Why: why})
}

// media reports whether a part shows or plays something.
func (k Kind) media() bool {
	return k == KindImage || k == KindAudio || k == KindFile || k == KindVideo
}
