package wire

import (
	"errors"
	"fmt"
	"sync"

	"laconic/compact"
)

func (r *chatRequest) encode(edited []compact.Message) ([]byte, error) {
	if r.untouched(edited) {
		return r.Body, nil
	}
	if len(edited) == 0 {
		return nil, errors.New("wire: no message is left")
	}
	e := encoders.Get().(*encoder)
	e.r, e.pieces, e.made = r, e.pieces[:0], e.made[:0]
	defer e.release()
	last := len(r.marks) - 1
	e.keep(0, r.marks[0].whole.start)
	for i := range edited {
		m := &edited[i]
		if i > 0 {
			e.between(edited[i-1].Origin, m.Origin)
		}
		if err := e.message(m); err != nil {
			return nil, fmt.Errorf("wire: message %d: %w", i, err)
		}
	}
	e.keep(r.marks[last].whole.end, uint32(len(r.Body)))
	return e.bytes(), nil
}

// untouched reports whether a list is the client's own.
func (r *chatRequest) untouched(edited []compact.Message) bool {
	if len(edited) != len(r.marks) {
		return false
	}
	for i := range edited {
		if edited[i].Edited || edited[i].Origin != i {
			return false
		}
	}
	return true
}

// encoder collects the pieces of a new body. They are joined at the end, when
// their length is known: one allocation, one copy.
type encoder struct {
	r      *chatRequest
	pieces []piece
	made   []byte   // bytes that the client did not send
	cuts   []splice // of the message that is being written
}

// piece is a run of the client's body, or of what was made.
type piece struct {
	span
	made bool
}

// keep takes over a run of the client's bytes.
func (e *encoder) keep(start, end uint32) {
	if start == end {
		return
	}
	if n := len(e.pieces); n > 0 && !e.pieces[n-1].made && e.pieces[n-1].end == start {
		e.pieces[n-1].end = end
		return
	}
	e.pieces = append(e.pieces, piece{span: span{start, end}})
}

// add takes over a run of what was made.
func (e *encoder) add(made span) {
	if made.start < made.end {
		e.pieces = append(e.pieces, piece{span: made, made: true})
	}
}

// since is what was made since start.
func (e *encoder) since(start int) span { return span{uint32(start), uint32(len(e.made))} }

func (e *encoder) bytes() []byte {
	n := 0
	for _, p := range e.pieces {
		n += int(p.end - p.start)
	}
	alloc := e.r.Alloc
	if alloc == nil {
		alloc = func(n int) []byte { return make([]byte, n) }
	}
	out := alloc(n)
	at := 0
	for _, p := range e.pieces {
		from := e.r.Body
		if p.made {
			from = e.made
		}
		at += copy(out[at:], from[p.start:p.end])
	}
	return out
}

// encoders are encoders without a request, whose slices are used again.
var encoders = sync.Pool{New: func() any { return &encoder{} }}

// release lets another request use the slices of e, unless they are large.
func (e *encoder) release() {
	if e.r = nil; cap(e.made)+cap(e.pieces) <= 1<<20 {
		encoders.Put(e)
	}
}

// between writes what parts two messages: the client's own bytes where they
// were neighbours.
func (e *encoder) between(origin, next int) {
	if origin >= 0 && next == origin+1 && next < len(e.r.marks) {
		e.keep(e.r.marks[origin].whole.end, e.r.marks[next].whole.start)
		return
	}
	start := len(e.made)
	e.made = append(e.made, ',')
	e.add(e.since(start))
}

func (e *encoder) message(m *compact.Message) error {
	if m.Origin == compact.Added {
		start := len(e.made)
		if err := e.added(m); err != nil {
			return err
		}
		e.add(e.since(start))
		return nil
	}
	if m.Origin < 0 || m.Origin >= len(e.r.marks) {
		return errors.New("it is not one of the client's")
	}
	whole := e.r.marks[m.Origin].whole
	e.cuts = e.cuts[:0]
	switch {
	case m.Rest:
		return e.rest(m)
	case m.Edited:
		if err := e.differences(m); err != nil {
			return err
		}
	}
	e.spliced(whole)
	return nil
}

// spliced takes over a run of the client's bytes with the cuts in it.
func (e *encoder) spliced(whole span) {
	at := whole.start
	for _, c := range inOrder(e.cuts) {
		e.keep(at, c.start)
		e.add(c.made)
		at = c.end
	}
	e.keep(at, whole.end)
}

// rest writes a message for one call of the client's message, with its bytes.
func (e *encoder) rest(m *compact.Message) error {
	if len(m.Calls) != 1 || m.Calls[0].Nth == 0 || len(m.Parts) > 0 {
		return errors.New("only a call of the client's can be split off")
	}
	n := m.Calls[0].Nth - 1
	k := e.r.callsOf(m.Origin)[n]
	if err := e.call(&m.Calls[0], &e.r.Conversation.Messages[m.Origin].Calls[n], &k); err != nil {
		return err
	}
	before, after := `"tool_calls":[`, `]}`
	if m.Calls[0].Kind == compact.CallLegacy {
		before, after = `"function_call":`, `}`
	}
	from := len(e.made)
	e.made = append(append(e.made, `{"role":"assistant","content":null,`...), before...)
	e.add(e.since(from))
	e.spliced(k.whole)
	from = len(e.made)
	e.made = append(e.made, after...)
	e.add(e.since(from))
	return nil
}

// added renders a message that the client did not send: a text. A call is
// never made up (Gemini wants its signature, Kimi its reasoning).
func (e *encoder) added(m *compact.Message) error {
	if len(m.Calls) > 0 || m.Role == 0 {
		return errors.New("only a text can be added, with a role")
	}
	e.made = append(e.made, `{"role":"`...)
	e.made = append(e.made, m.Role.String()...)
	e.made = append(e.made, '"')
	switch m.Role {
	case compact.Tool:
		e.made = append(e.made, `,"tool_call_id":`...)
		e.made = appendQuoted(e.made, m.Answers)
	case compact.Function:
		e.made = append(e.made, `,"name":`...)
		e.made = appendQuoted(e.made, m.Answers)
	}
	e.made = append(e.made, `,"content":`...)
	text, err := joined(m.Parts)
	if err != nil {
		return err
	}
	e.made = append(appendQuoted(e.made, text), '}')
	return nil
}

// joined is the text of parts that are all text.
func joined(parts []compact.Part) (string, error) {
	if len(parts) == 1 && parts[0].Kind == compact.KindText {
		return parts[0].Text.String(), nil
	}
	var text []byte
	for i := range parts {
		if parts[i].Kind != compact.KindText {
			return "", errors.New("a part that is not text cannot be written")
		}
		text = parts[i].Text.AppendTo(text)
	}
	return string(text), nil
}
