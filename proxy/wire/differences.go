package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"laconic/compact"
)

// unbound reports whether a message has lost its bound thinking.
func unbound(m, was *compact.Message) bool {
	return was.Bound() && !m.Bound() && m.Reasoning.Len() == 0
}

// differences compares an edited message with the one that was decoded: it notes the
// pieces that are left, and what to splice into their bytes.
func (e *encoder) differences(m, was *compact.Message, k *mark) error {
	if m.Role != was.Role || !unbound(m, was) && (m.Bound() != was.Bound() || !m.Reasoning.Equal(was.Reasoning)) {
		return errors.New("role and reasoning stay")
	}
	if m.Name != was.Name {
		return errors.New("the name stays")
	}
	if m.Answers != was.Answers {
		if !m.Role.Result() {
			return errors.New("only a result answers a call")
		}
		_, key, _ := e.dialect.keys(m)
		id, _ := compact.NameIn(m.Answers)
		e.set(e.elements[k.elements.from].whole, k.answers, key, id)
	}
	if m.Role.Result() && (m.Answers != was.Answers || was.Flawed && !m.Flawed) {
		whole := e.elements[k.elements.from].whole
		kind, want := gjson.GetBytes(e.Body[whole.start:whole.end], "type"), e.answerTo(m)
		if at := whole.start + uint32(kind.Index); want != "" && want != kind.Str {
			e.replace(span{at, at + uint32(len(kind.Raw))}, quoted(want))
		}
	}
	is := m.Calls
	for i := range was.Calls {
		if len(is) == 0 || int(is[0].Nth) != i+1 {
			continue
		}
		p := &e.ofCalls[int(k.calls.from)+i]
		e.live[p.element] = true
		if err := e.call(m, &is[0], &was.Calls[i], p); err != nil {
			return err
		}
		is = is[1:]
	}
	if len(is) > 0 {
		return errors.New("a call can neither be added nor moved")
	}
	return e.content(m, was, k)
}

// set replaces the value of a member by a string, or puts the member first in its
// object.
func (e *encoder) set(object, old span, key, text string) {
	if old.present() {
		e.replace(old, quoted(text))
		return
	}
	made := fmt.Appendf(nil, "%s:%s", quoted(key), quoted(text))
	if trimSpace(e.Body[object.start+1:])[0] != '}' {
		made = append(made, ',')
	}
	e.insert(object.start+1, made)
}

// call writes what changed of one call of a message.
func (e *encoder) call(m *compact.Message, is, was *compact.Call, p *place) error {
	if is.Custom != was.Custom || is.Name != was.Name {
		return errors.New("kind and name of a call stay")
	}
	if is.ID != was.ID {
		key, _, _ := e.dialect.keys(m)
		e.set(e.elements[p.element].whole, p.id, key, is.ID)
	}
	if is.Arguments.Equal(was.Arguments) {
		return nil
	}
	if !p.text.present() {
		return errors.New("arguments cannot be added to a call")
	}
	text := is.Arguments.String()
	made := quoted(text)
	if e.Body[p.text.start] != '"' && jsontext.Value(text).IsValid() {
		made = []byte(text) // they came as an object, not as a string
	}
	e.replace(p.text, made)
	return nil
}

// content writes what changed of the content of a message. Its shape stays, but
// text may come where there was no content.
func (e *encoder) content(m, was *compact.Message, k *mark) error {
	none := was.Shape == compact.Absent || was.Shape == compact.Null
	switch {
	case none && m.Shape == compact.String:
		text, err := joined(m.Parts)
		if err == nil {
			_, _, key := e.dialect.keys(m)
			if key == "" {
				return errors.New("text cannot be added to this message")
			}
			e.set(e.elements[k.elements.from].whole, k.content, key, text)
		}
		return err
	case m.Shape != was.Shape, none && len(m.Parts) > 0:
		return errors.New("the shape of content stays")
	case m.Shape == compact.String:
		return e.stringContent(m, was, &e.ofParts[k.parts.from])
	case m.Shape == compact.Array:
		return e.arrayContent(m, was, k)
	}
	return nil
}

// stringContent writes content that is a string, and stays one: the client's own
// bytes stay between texts that were added.
func (e *encoder) stringContent(m, was *compact.Message, p *place) error {
	e.live[p.element] = true
	own := slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Nth == 1 && p.Equal(was.Parts[0]) })
	if own < 0 {
		text, err := joined(m.Parts)
		if err != nil {
			return err
		}
		e.replace(p.text, quoted(text))
		return nil
	}
	if err := e.unquoted(m.Parts[:own], p.text.start+1); err != nil {
		return err
	}
	return e.unquoted(m.Parts[own+1:], p.text.end-1)
}

// unquoted puts texts at a place within a string.
func (e *encoder) unquoted(parts []compact.Part, at uint32) error {
	text, err := joined(parts)
	if err != nil || text == "" {
		return err
	}
	inside := quoted(text)
	e.insert(at, inside[1:len(inside)-1])
	return nil
}

// arrayContent writes content that is an array of parts. Parts that were added come
// before all that is in it, or follow the client's.
func (e *encoder) arrayContent(m, was *compact.Message, k *mark) error {
	first := max(0, slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Nth > 0 }))
	before, is := m.Parts[:first], m.Parts[first:]
	places := e.ofParts[k.parts.from:k.parts.to]
	for i := range was.Parts {
		if len(is) == 0 || int(is[0].Nth) != i+1 {
			continue
		}
		e.live[places[i].element] = true
		if err := e.part(&is[0], &was.Parts[i], &places[i]); err != nil {
			return err
		}
		is = is[1:]
	}
	if len(before)+len(is) > 0 && !k.content.present() {
		return errors.New("parts cannot be added to this message")
	}
	at, follows, more := e.behind(k, places)
	if err := e.textParts(before, k.content.start+1, false, follows || more || len(is) > 0, nil); err != nil {
		return err
	}
	var mark []byte
	if m == e.bears {
		mark = e.mark
	}
	return e.textParts(is, at, follows, !follows && more, mark)
}

// behind returns where a part stands that follows the client's: behind the last of
// them that is left, before what else is left in the array, or behind all that was. It
// reports whether there is any, and whether more is left behind it.
func (e *encoder) behind(k *mark, places []place) (at uint32, follows, more bool) {
	at = k.content.start + 1
	last := at
	for i := k.elements.from; i < k.elements.to; {
		x := &e.elements[i]
		if x.whole.start < k.content.start || x.whole.end > k.content.end {
			i++
			continue
		}
		last = x.whole.end
		switch {
		case !e.lives(int32(i)):
		case len(places) > 0 && i <= uint32(places[len(places)-1].element):
			at, follows = x.whole.end, true
		default:
			more = true
		}
		i = x.next
	}
	if !follows && !more {
		at = last
	}
	return at, follows, more
}

// textParts puts parts at a place in an array. follows and followed report whether
// others are before and after them. The last of them gets the markers of mark.
func (e *encoder) textParts(parts []compact.Part, at uint32, follows, followed bool, mark []byte) error {
	if len(parts) == 0 {
		return nil
	}
	var made []byte
	for n, p := range parts {
		if p.Kind != compact.KindText || p.Nth > 0 {
			return errors.New("only text can be added, before or behind the client's parts")
		}
		if follows || n > 0 {
			made = append(made, ',')
		}
		var old []byte
		if n == len(parts)-1 {
			old = mark
		}
		made = appendPart(made, e.textType, p.Text.String(), old)
	}
	if followed {
		made = append(made, ',')
	}
	e.insert(at, made)
	return nil
}

// part writes what changed of one part.
func (e *encoder) part(is, was *compact.Part, p *place) error {
	switch whole := e.elements[p.element].whole; {
	case is.Equal(*was):
	case is.Kind == was.Kind && is.Detail == was.Detail && p.text.present():
		e.replace(p.text, quoted(is.Text.String()))
	case is.Kind == compact.KindText:
		e.replace(whole, appendPart(nil, e.textType, is.Text.String(), e.Body[whole.start:whole.end]))
	default:
		return errors.New("a part can only become text")
	}
	return nil
}

// joined is the text of parts that are all text.
func joined(parts []compact.Part) (string, error) {
	texts := make([]string, len(parts))
	for i := range parts {
		if parts[i].Kind != compact.KindText {
			return "", errors.New("a part that is not text cannot be written")
		}
		texts[i] = parts[i].Text.String()
	}
	return strings.Join(texts, ""), nil
}
