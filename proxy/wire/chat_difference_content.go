package wire

import (
	"errors"
	"slices"

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

// stringContent writes content that is a string, and stays one: the client's own
// bytes stay between texts that were added.
func (e *encoder) stringContent(m, was *compact.Message, old span) error {
	own := slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Nth == 1 && p.Equal(was.Parts[0]) })
	if own < 0 {
		text, err := joined(m.Parts)
		if err != nil {
			return err
		}
		from := len(e.made)
		e.made = appendQuoted(e.made, text)
		e.replace(old, from)
		return nil
	}
	if err := e.unquoted(m.Parts[:own], old.start+1); err != nil {
		return err
	}
	return e.unquoted(m.Parts[own+1:], old.end-1)
}

// unquoted puts texts at a place within a string.
func (e *encoder) unquoted(parts []compact.Part, at uint32) error {
	text, err := joined(parts)
	if err != nil || text == "" {
		return err
	}
	from := len(e.made)
	e.made = appendQuoted(e.made, text)
	e.made = e.made[:len(e.made)-1]
	e.insert(at, from+1) // without the quotes
	return nil
}

// arrayContent writes content that is an array of parts. Parts that were added
// come before the client's or follow them.
func (e *encoder) arrayContent(m, was *compact.Message, k *messageMark, marks []partMark) error {
	first := slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Nth > 0 })
	if first < 0 {
		first = 0
	}
	before, is := m.Parts[:first], m.Parts[first:]
	var gone []span
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
	left := len(was.Parts) > len(gone)
	if err := e.textParts(before, k.content.start+1, false, left); err != nil {
		return err
	}
	at := k.content.start + 1
	if len(was.Parts) > 0 {
		at = marks[len(marks)-1].whole.end
	}
	return e.textParts(is, at, left, false)
}

// textParts puts parts at a place in an array. follows and followed report whether
// others are before and after them.
func (e *encoder) textParts(parts []compact.Part, at uint32, follows, followed bool) error {
	if len(parts) == 0 {
		return nil
	}
	from := len(e.made)
	for n, p := range parts {
		if p.Kind != compact.KindText || p.Nth > 0 {
			return errors.New("only text can be added, before or behind the client's parts")
		}
		if follows || n > 0 {
			e.made = append(e.made, ',')
		}
		e.textPart(p.Text, nil)
	}
	if followed {
		e.made = append(e.made, ',')
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
