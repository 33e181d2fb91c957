package wire

import (
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
func (e *encoder) differences(m, was *compact.Message, k *mark) {
	reasons := unbound(m, was) || m.Bound() == was.Bound() && m.Reasoning.Equal(was.Reasoning)
	if !e.must(m.Role == was.Role && reasons, "role and reasoning stay") {
		return
	}
	e.must(m.Name == was.Name, "the name stays")
	if m.Answers != was.Answers {
		e.must(m.Role.Result(), "only a result answers a call")
		_, key, _ := e.dialect.keys(m)
		id, _ := compact.NameIn(m.Answers)
		e.set(e.elements[k.elements.from].whole, k.answers, key, id)
	}
	if m.Role.Result() && (m.Answers != was.Answers || was.Flawed && !m.Flawed) {
		whole := e.elements[k.elements.from].whole
		kind, want := gjson.GetBytes(e.Body[whole.start:whole.end], "type"), e.answerTo(m)
		if at := whole.start + uint32(kind.Index); want != "" && want != kind.Str {
			e.replace(extent{at, at + uint32(len(kind.Raw))}, quoted(want))
		}
	}
	is := m.Calls
	for i := range was.Calls {
		if len(is) == 0 || int(is[0].Nth) != i+1 {
			continue
		}
		p := &e.ofCalls[int(k.calls.from)+i]
		e.live[p.element] = true
		e.call(m, &is[0], &was.Calls[i], p)
		is = is[1:]
	}
	e.must(len(is) == 0, "a call can neither be added nor moved")
	e.content(m, was, k)
}

// set replaces the value of a member by a string, or puts the member first in its
// object.
func (e *encoder) set(object, old extent, key, text string) {
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
func (e *encoder) call(m *compact.Message, is, was *compact.Call, p *place) {
	e.must(is.Custom == was.Custom && is.Name == was.Name, "kind and name of a call stay")
	if is.ID != was.ID {
		key, _, _ := e.dialect.keys(m)
		e.set(e.elements[p.element].whole, p.id, key, is.ID)
	}
	if is.Arguments.Equal(was.Arguments) {
		return
	}
	e.must(p.text.present(), "arguments cannot be added to a call")
	text := is.Arguments.String()
	made := quoted(text)
	if e.Body[p.text.start] != '"' && jsontext.Value(text).IsValid() {
		made = []byte(text) // they came as an object, not as a string
	}
	e.replace(p.text, made)
}

// content writes what changed of the content of a message. Its shape stays, but
// text may come where there was no content.
func (e *encoder) content(m, was *compact.Message, k *mark) {
	none := was.Shape == compact.Absent || was.Shape == compact.Null
	switch {
	case none && m.Shape == compact.String:
		text := e.joined(m.Parts)
		_, _, key := e.dialect.keys(m)
		e.must(key != "", "text cannot be added to this message")
		e.set(e.elements[k.elements.from].whole, k.content, key, text)
	case !e.must(m.Shape == was.Shape && (!none || len(m.Parts) == 0), "the shape of content stays"):
	case m.Shape == compact.String:
		e.stringContent(m, was, &e.ofParts[k.parts.from])
	case m.Shape == compact.Array:
		e.arrayContent(m, was, k)
	}
}

// stringContent writes content that is a string, and stays one: the client's own
// bytes stay between texts that were added.
func (e *encoder) stringContent(m, was *compact.Message, p *place) {
	e.live[p.element] = true
	own := slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Nth == 1 && p.Equal(was.Parts[0]) })
	if own < 0 {
		e.replace(p.text, quoted(e.joined(m.Parts)))
		return
	}
	e.unquoted(m.Parts[:own], p.text.start+1)
	e.unquoted(m.Parts[own+1:], p.text.end-1)
}

// unquoted puts texts at a place within a string.
func (e *encoder) unquoted(parts []compact.Part, at uint32) {
	if text := e.joined(parts); text != "" {
		inside := quoted(text)
		e.insert(at, inside[1:len(inside)-1])
	}
}

// arrayContent writes content that is an array of parts. Parts that were added come
// before all that is in it, or follow the client's.
func (e *encoder) arrayContent(m, was *compact.Message, k *mark) {
	first := max(0, slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Nth > 0 }))
	before, is := m.Parts[:first], m.Parts[first:]
	places := e.ofParts[k.parts.from:k.parts.to]
	for i := range was.Parts {
		if len(is) == 0 || int(is[0].Nth) != i+1 {
			continue
		}
		e.live[places[i].element] = true
		e.part(&is[0], &was.Parts[i], &places[i])
		is = is[1:]
	}
	e.must(len(before)+len(is) == 0 || k.content.present(), "parts cannot be added to this message")
	at, follows, more := e.behind(k, places)
	e.textParts(before, k.content.start+1, false, follows || more || len(is) > 0, nil)
	var mark []byte
	if m == e.bears {
		mark = e.mark
	}
	e.textParts(is, at, follows, !follows && more, mark)
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
func (e *encoder) textParts(parts []compact.Part, at uint32, follows, followed bool, mark []byte) {
	if len(parts) == 0 {
		return
	}
	var made []byte
	for n, p := range parts {
		e.must(p.Kind == compact.KindText && p.Nth == 0, "only text can be added, before or behind the client's parts")
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
}

// part writes what changed of one part.
func (e *encoder) part(is, was *compact.Part, p *place) {
	switch whole := e.elements[p.element].whole; {
	case is.Equal(*was):
	case is.Kind == was.Kind && is.Detail == was.Detail && p.text.present():
		e.replace(p.text, quoted(is.Text.String()))
	case e.must(is.Kind == compact.KindText, "a part can only become text"):
		e.replace(whole, appendPart(nil, e.textType, is.Text.String(), e.Body[whole.start:whole.end]))
	}
}

// joined is the text of parts that are all text.
func (e *encoder) joined(parts []compact.Part) string {
	texts := make([]string, len(parts))
	for i := range parts {
		e.must(parts[i].Kind == compact.KindText, "a part that is not text cannot be written")
		texts[i] = parts[i].Text.String()
	}
	return strings.Join(texts, "")
}
