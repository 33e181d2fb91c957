package wire

import (
	"math"
	"slices"
	"unicode/utf8"

	"laconic/compact"
)

// document is a body that was read: a list of messages, and for each of them the
// places of its pieces. It knows no API. A message may have several elements of the
// client's list, an element may hold several messages, and messages may stand in
// another order than their elements. A message without elements stays as it is.
type document struct {
	Request
	scanner
	dialect  dialect
	textType string                                      // the type of a part that is text
	known    [][]string                                  // keys that errors may name
	same     func(m *compact.Message, raw string) string // what tells a message, of its bytes; nil: all of them

	msgs     []compact.Message
	marks    []mark
	elements []element
	parts    []compact.Part // of all messages
	calls    []compact.Call
	ofParts  []place // of all messages, as parts and calls are
	ofCalls  []place
	said     []value // texts of reasoning that were collected

	passes  *PassError // why a body that can be read is not
	nothing *PassError // the list says nothing, or is not there
}

// element is a value that can leave the body with its comma: an item of a list, or
// a member of an object with its key. Elements are in the order of the body, so that
// each comes before those within it.
type element struct {
	whole extent
	in    int32  // the element that it is within, or inList
	next  uint32 // the first element that is not within it
	stays stay
}

// inList is where the elements of the client's list are.
const inList = -1

// stay says for how long an element stays in the body.
type stay uint8

const (
	withPieces   stay = iota // while one of its pieces or elements does
	withMessage              // while the message does
	withThinking             // while the message has its bound thinking
	withFlaw                 // while the message has its flaw
)

// place is where a piece of a message is: a part, a call, or what a result answers.
type place struct {
	element int32  // leaves with the piece, if it stays withPieces
	text    extent // the value of its text or arguments
	id      extent // the value of its id
}

// mark is where a message is. The elements of a message follow each other in the
// body; the first of a result is the object that says what it answers.
type mark struct {
	elements, parts, calls run
	content                extent // the value
	answers                extent // the value
}

// run is a run of indexes.
type run struct{ from, to uint32 }

// newDocument returns a document of a body that is to be read. Its err says why the
// body cannot be.
func newDocument(body []byte, w dialect, textType string, keys ...[]string) *document {
	d := &document{dialect: w, textType: textType, known: keys, scanner: scanner{src: body}}
	if uint64(len(body)) > math.MaxUint32 || !utf8.Valid(body) {
		d.err = d.check()
	}
	d.Request = Request{Body: body, Beside: compact.Beside{Wire: w.Name()}, document: d}
	return d
}

// check says why the body is not to be read, if it is JSON that is at fault.
func (d *document) check() *PassError { return check(d.src, slices.Concat(d.known...)) }

// begin adds a message, and the place where its pieces will be.
func (d *document) begin() (*compact.Message, *mark) {
	d.crowd()
	d.msgs = append(d.msgs, compact.Message{})
	d.marks = append(d.marks, mark{
		elements: runAt(len(d.elements)), parts: runAt(len(d.parts)), calls: runAt(len(d.calls)),
	})
	return d.newest()
}

// newest returns the message that was begun last.
func (d *document) newest() (*compact.Message, *mark) {
	return &d.msgs[len(d.msgs)-1], &d.marks[len(d.marks)-1]
}

func runAt(n int) run { return run{uint32(n), uint32(n)} }

// end ends the message that was begun last.
func (d *document) end(k *mark) {
	k.elements.to, k.parts.to, k.calls.to = uint32(len(d.elements)), uint32(len(d.parts)), uint32(len(d.calls))
}

// open adds an element that begins at start, and returns its index.
func (d *document) open(start int, in int32, stays stay) int32 {
	d.elements = append(d.elements, element{whole: extent{start: uint32(start)}, in: in, stays: stays})
	return int32(len(d.elements) - 1)
}

// close ends an element where the scanner is.
func (d *document) close(i int32) {
	d.elements[i].whole.end, d.elements[i].next = uint32(d.at), uint32(len(d.elements))
}

// addPart adds a part to the message that was begun last.
func (d *document) addPart(p compact.Part, at place) {
	p.Nth = uint32(len(d.parts)) - d.marks[len(d.marks)-1].parts.from + 1
	d.crowd()
	d.parts = append(d.parts, p)
	d.ofParts = append(d.ofParts, at)
}

// addCall adds a call to the message that was begun last.
func (d *document) addCall(c compact.Call, at place) {
	c.Nth = uint32(len(d.calls)) - d.marks[len(d.marks)-1].calls.from + 1
	d.crowd()
	d.calls = append(d.calls, c)
	d.ofCalls = append(d.ofCalls, at)
}

// dropCalls takes the calls from the message that was begun last: it cannot call. Their
// bytes stay with it.
func (d *document) dropCalls(k *mark) {
	for _, p := range d.ofCalls[k.calls.from:] {
		d.elements[p.element].stays = withMessage
	}
	for i := k.elements.from; i < uint32(len(d.elements)); i++ {
		if d.elements[i].stays == withFlaw {
			d.elements[i].stays = withMessage
		}
	}
	d.calls, d.ofCalls = d.calls[:k.calls.from], d.ofCalls[:k.calls.from]
}

// attach hands every message its place, and its parts and calls out of two slices that
// all share. No message can grow into its neighbour's.
func (d *document) attach() {
	for i, k := range d.marks {
		m := &d.msgs[i]
		m.Origin = i
		m.Parts = d.parts[k.parts.from:k.parts.to:k.parts.to]
		m.Calls = d.calls[k.calls.from:k.calls.to:k.calls.to]
		if slices.ContainsFunc(m.Calls, func(c compact.Call) bool { return c.Sealed }) {
			m.Seal |= compact.SealCalls
		}
	}
	d.Conversation.Messages = d.msgs
}

// crowd refuses a body whose decoded form would be too large.
func (d *document) crowd() {
	if len(d.msgs)+len(d.parts)+len(d.calls) >= maxElements {
		d.fail(TooMany, d.at, "")
	}
}

// top returns the element of the list that an element is within.
func (d *document) top(i int32) int32 {
	for d.elements[i].in != inList {
		i = d.elements[i].in
	}
	return i
}

// At returns the messages that are made of the elements at some sorted indices of the
// client's list, and how many of the indices are of no element.
func (r *Request) At(indices []int) (msgs []int, unmatched int) {
	d, n, hit := r.document, 0, false
	named := make([]bool, len(d.elements))
	for i := range d.elements {
		if d.elements[i].in == inList { // those within it follow
			_, hit = slices.BinarySearch(indices, n)
			n++
		}
		named[i] = hit
	}
	for i, k := range d.marks {
		if slices.Contains(named[k.elements.from:k.elements.to], true) {
			msgs = append(msgs, i)
		}
	}
	matched, _ := slices.BinarySearch(indices, n)
	return msgs, len(indices) - matched
}

// source returns the bytes of a message.
func (d *document) source(i int) string {
	e := d.marks[i].elements
	if e.from == e.to {
		return d.view(int(d.marks[i].content.start), int(d.marks[i].content.end))
	}
	last := e.from
	for n := e.from; n < e.to; n = d.elements[n].next {
		last = n
	}
	return d.view(int(d.elements[e.from].whole.start), int(d.elements[last].whole.end))
}
