package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

func (d *document) encode(edited []compact.Message) ([]byte, error) {
	untouched := len(edited) == len(d.marks)
	for i := range edited {
		untouched = untouched && !edited[i].Edited && edited[i].Origin == i
	}
	if untouched {
		return d.Body, nil
	}
	switch beside := d.marks[0].elements; {
	case len(edited) == 0:
		return nil, errors.New("wire: no message is left")
	case beside.from == beside.to && edited[0].Origin != 0:
		return nil, errors.New("wire: what is beside the list stays as it is")
	}
	e := &encoder{document: d, placed: make([]uint32, len(d.elements)), live: make([]bool, len(d.elements)), turn: 1}
	e.carry(edited)
	for i := range edited {
		if i > 0 && edited[i].Origin >= 0 && edited[i].Origin < e.origin {
			e.turn++
		}
		if e.message(&edited[i]); e.fault != nil {
			return nil, fmt.Errorf("wire: message %d: %w", i, e.fault)
		}
	}
	if len(d.elements) == 0 {
		return d.Body, nil // there is no list
	}
	if !e.write() {
		return nil, errors.New("wire: no message is left in the list")
	}
	return bytes.Join(e.pieces, nil), nil
}

// encoder writes the body of an edited list: it notes what lives and what changed,
// message by message, and writes the elements then.
type encoder struct {
	*document
	live   []bool   // per element: a piece of it is left, or the message that it stays with
	placed []uint32 // per element with a row of its own: the turn that it is written in, 0: none yet
	rows   []row
	cuts   []splice
	pieces [][]byte          // of the new body: runs of the client's, and what was made
	origin int               // of the client's message that was noted last
	mark   []byte            // a block that left, with a mark of the cache that stays
	bears  *compact.Message  // the message whose last text gets it
	turn   uint32            // begins with a message that was moved to behind a later one
	caller *compact.Message  // the latest that calls
	called map[string]string // by the id of its calls: the type of the item that answers, once it is asked for
	fault  error             // the first reason why an edit cannot be written
}

// must notes a fault unless something is so, and reports whether it is. Pieces made
// after a fault are never sent.
func (e *encoder) must(is bool, otherwise string) bool {
	if !is && e.fault == nil {
		e.fault = errors.New(otherwise)
	}
	return is
}

// row is one element of the new list. Rows stand as the list does: within a turn the
// client's elements keep their order, and what was added follows what it stood behind.
type row struct {
	turn    uint32
	behind  int32  // the client's element that says where it stands; inList: first
	element int32  // the client's element, or noElement
	made    []byte // what was made in its place, or before it
	after   []byte // what was made behind it
}

const noElement = -1

// message notes what is left of one message, and what changed in it.
func (e *encoder) message(m *compact.Message) {
	behind := int32(inList)
	if n := len(e.rows); n > 0 && e.rows[n-1].turn == e.turn {
		behind = e.rows[n-1].behind
	}
	switch {
	case m.Origin == compact.Added:
		e.rows = append(e.rows, row{turn: e.turn, behind: behind, element: noElement, made: e.added(m)})
		return
	case !e.must(m.Origin >= 0 && m.Origin < len(e.marks), "it is not one of the client's"):
		return
	}
	e.origin = m.Origin
	if len(m.Calls) > 0 {
		e.caller, e.called = m, nil
	}
	if m.Rest {
		e.rest(m, behind)
		return
	}
	k := &e.marks[m.Origin]
	alone := false // an element of the list is parted: what is left of the message gets one to itself
	for i := k.elements.from; i < k.elements.to; i = e.elements[i].next {
		switch t := e.top(int32(i)); {
		case e.placed[t] == 0:
			e.placed[t] = e.turn
			e.rows = append(e.rows, row{turn: e.turn, behind: t, element: t})
		case e.must(t != int32(i), "an element of the list stands twice"):
			last := &e.rows[len(e.rows)-1]
			alone = alone || last.turn != e.turn || last.element != t
		}
	}
	cuts := len(e.cuts)
	if e.left(m, k); alone && e.fault == nil {
		e.parted(m, k, behind, cuts)
	}
}

// left notes what is left of the pieces of a message, and what changed in them.
func (e *encoder) left(m *compact.Message, k *mark) {
	was := &e.msgs[m.Origin]
	whole := !m.Edited
	if k.elements.from == k.elements.to {
		e.beside(m, was)
		return
	}
	for i := k.elements.from; i < k.elements.to; i++ {
		switch e.elements[i].stays {
		case withPieces:
			e.live[i] = whole
		case withMessage:
			e.live[i] = true
		case withThinking:
			e.live[i] = !unbound(m, was)
		case withFlaw:
			e.live[i] = m.Flawed
		}
	}
	if !whole {
		e.differences(m, was, k)
	}
}

// beside makes an element for what was added to a message that is beside the list.
func (e *encoder) beside(m, was *compact.Message) {
	own := *m
	own.Parts = m.Parts[:min(len(m.Parts), len(was.Parts))]
	if e.must(own.Equal(was), "what is beside the list stays as it is") && len(m.Parts) > len(own.Parts) {
		made := e.added(&compact.Message{Role: m.Role, Parts: m.Parts[len(own.Parts):]})
		e.rows = append(e.rows, row{turn: e.turn, behind: inList, element: noElement, made: made})
	}
}

// parted makes an element for a message, of what is left of it in an element that it
// shared with others. Its cuts are those from an index on.
func (e *encoder) parted(m *compact.Message, k *mark, behind int32, cuts int) {
	first := len(e.rows)
	for i := k.elements.from; i < k.elements.to; i = e.elements[i].next {
		e.must(e.elements[i].in != inList, "a message of several elements cannot be parted")
		if e.lives(int32(i)) {
			e.rows = append(e.rows, row{turn: e.turn, behind: behind, element: int32(i)})
		}
		e.placed[i] = e.turn
	}
	if first == len(e.rows) {
		return
	}
	before, after := e.dialect.alone(m)
	last := &e.rows[len(e.rows)-1]
	for i := cuts; i < len(e.cuts); i++ { // what was added behind it goes along
		if c := e.cuts[i]; c.start == c.end && c.end == e.elements[last.element].whole.end {
			last.after = c.made
			e.cuts = slices.Delete(e.cuts, i, i+1)
			break
		}
	}
	e.rows[first].made, last.after = []byte(before), append(last.after, after...)
}

// added returns a message that the client did not send: a text. A call is never made
// up (Gemini wants its signature, Kimi its reasoning).
func (e *encoder) added(m *compact.Message) []byte {
	e.must(len(m.Calls) == 0 && m.Role != 0, "only a text can be added, with a role")
	text := e.joined(m.Parts)
	if m == e.bears {
		before, after := e.dialect.alone(m)
		return append(appendPart([]byte(before), e.textType, text, e.mark), after...)
	}
	return e.dialect.added(m, e.answerTo(m), text)
}

// answerTo returns the type of the item that answers the call which a result answers,
// "" where the API has none.
func (e *encoder) answerTo(m *compact.Message) string {
	if e.called == nil && e.caller != nil && m.Role.Result() {
		e.called = make(map[string]string, len(e.caller.Calls))
		from := int(e.marks[e.caller.Origin].calls.from) - 1
		for _, c := range e.caller.Calls {
			whole := e.elements[e.ofCalls[from+int(c.Nth)].element].whole
			e.called[c.ID] = answers[gjson.GetBytes(e.Body[whole.start:whole.end], "type").String()]
		}
	}
	return e.called[m.Answers]
}

// rest makes an element for one call of the client's message, with its bytes.
func (e *encoder) rest(m *compact.Message, behind int32) {
	if !e.must(len(m.Calls) == 1 && m.Calls[0].Nth > 0 && len(m.Parts) == 0, "only a call of the client's can be split off") {
		return
	}
	n := m.Calls[0].Nth - 1
	p := &e.ofCalls[e.marks[m.Origin].calls.from+n]
	if e.elements[p.element].in == inList { // it moves from where the message has it
		e.live[p.element] = true
		for i := len(e.rows) - 1; i >= 0; i-- {
			if e.rows[i].element == p.element {
				e.rows[i].element = noElement
				break
			}
		}
	}
	e.call(m, &m.Calls[0], &e.msgs[m.Origin].Calls[n], p)
	before, after := e.dialect.alone(m)
	e.rows = append(e.rows, row{turn: e.turn, behind: behind, element: p.element, made: []byte(before), after: []byte(after)})
}
