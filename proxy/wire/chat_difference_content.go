package wire

import (
	"errors"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

// content writes what changed of the content of a message. Its shape stays, but
// text may come where there was no content.
func (e *encoder) content(m, was *compact.Message, k *messageMark) error {
	marks := e.r.partsOf(m.Origin)
	none := was.Shape == compact.Absent || was.Shape == compact.Null
	switch {
	case none && m.Shape == compact.String:
		text, err := joined(m.Parts)
		if err == nil {
			e.set(k.whole, k.content, `"content":`, text)
		}
		return err
	case m.Shape != was.Shape, none && len(m.Parts) > 0:
		return errors.New("the shape of content stays")
	case m.Shape == compact.String:
		return e.stringContent(m, was, marks[0].text)
	case m.Shape == compact.Array:
		return e.arrayContent(m, was, k, marks)
	}
	return nil
}

// stringContent writes content that is a string, and stays one: text that was
// added follows the client's own bytes.
func (e *encoder) stringContent(m, was *compact.Message, old span) error {
	if len(m.Parts) > 0 && m.Parts[0].Equal(was.Parts[0]) {
		text, err := joined(m.Parts[1:])
		if err != nil || text == "" {
			return err
		}
		from := len(e.made)
		e.made = appendQuoted(e.made, text)
		e.made = e.made[:len(e.made)-1]
		e.insert(old.end-1, from+1) // without the quotes
		return nil
	}
	text, err := joined(m.Parts)
	if err != nil {
		return err
	}
	from := len(e.made)
	e.made = appendQuoted(e.made, text)
	e.replace(old, from)
	return nil
}

// arrayContent writes content that is an array of parts. Parts that were added
// follow the client's.
func (e *encoder) arrayContent(m, was *compact.Message, k *messageMark, marks []partMark) error {
	var gone []span
	is := m.Parts
	for i := range was.Parts {
		if len(is) == 0 || int(is[0].Nth) != i+1 {
			gone = append(gone, marks[i].whole)
			continue
		}
		if err := e.part(&is[0], &was.Parts[i], marks[i]); err != nil {
			return err
		}
		is = is[1:]
	}
	e.remove(gone)
	if len(is) == 0 {
		return nil
	}
	at := k.content.start + 1
	if len(was.Parts) > 0 {
		at = marks[len(marks)-1].whole.end
	}
	from := len(e.made)
	for n, p := range is {
		if p.Kind != compact.KindText || p.Nth > 0 {
			return errors.New("only text can be added, behind the client's parts")
		}
		if len(was.Parts) > len(gone) || n > 0 {
			e.made = append(e.made, ',')
		}
		e.textPart(p.Text, nil)
	}
	e.insert(at, from)
	return nil
}

// part writes what changed of one part.
func (e *encoder) part(is, was *compact.Part, k partMark) error {
	from := len(e.made)
	switch {
	case is.Equal(*was):
		return nil
	case is.Kind == was.Kind && is.Detail == was.Detail && k.text.present():
		e.made = appendQuoted(e.made, is.Text.String())
		e.replace(k.text, from)
		return nil
	case is.Kind == compact.KindText:
		e.textPart(is.Text, e.r.Body[k.whole.start:k.whole.end])
		e.replace(k.whole, from)
		return nil
	}
	return errors.New("a part can only become text")
}

// markers are what clients put on a part to say where the provider's cache
// ends. They outlive the part they were put on.
var markers = [...]string{"cache_control", "prompt_cache_breakpoint"}

// textPart makes a text part in the place of old, which may be nil.
func (e *encoder) textPart(text compact.Text, old []byte) {
	e.made = append(e.made, `{"type":"text","text":`...)
	e.made = appendQuoted(e.made, text.String())
	for _, key := range markers {
		if v := gjson.GetBytes(old, key); v.Exists() {
			e.made = append(e.made, `,"`...)
			e.made = append(e.made, key...)
			e.made = append(e.made, `":`...)
			e.made = append(e.made, v.Raw...)
		}
	}
	e.made = append(e.made, '}')
}
