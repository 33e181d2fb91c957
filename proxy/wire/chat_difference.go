package wire

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"laconic/compact"
)

// differences compares an edited message with the one that was decoded, and
// collects what to splice into its bytes.
func (e *encoder) differences(m *compact.Message) error {
	was := &e.r.Conversation.Messages[m.Origin]
	k := &e.r.marks[m.Origin]
	var gone []span // members of the message
	unbound := was.Bound && !m.Bound && m.Reasoning.Len() == 0
	if unbound {
		gone = slices.Clone(e.r.thoughtsOf(m.Origin))
	}
	if m.Role != was.Role || !unbound && (m.Bound != was.Bound || !m.Reasoning.Equal(was.Reasoning)) {
		return errors.New("role and reasoning stay")
	}
	if m.Name != was.Name && m.Role != compact.Function {
		return errors.New("the name stays")
	}
	if m.Answers != was.Answers {
		if err := e.answers(m, k); err != nil {
			return err
		}
	}
	if err := e.allCalls(m, was, k, gone); err != nil {
		return err
	}
	return e.content(m, was, k)
}

// answers sets the call that a result answers.
func (e *encoder) answers(m *compact.Message, k *messageMark) error {
	key, old := `"tool_call_id":`, k.answers
	switch m.Role {
	case compact.Tool:
	case compact.Function:
		key, old = `"name":`, k.name
	default:
		return errors.New("only a result answers a call")
	}
	e.set(k.whole, old, key, m.Answers)
	return nil
}

// set replaces the value of a member by a string, or puts the member first in
// its object.
func (e *encoder) set(object, old span, key, text string) {
	from := len(e.made)
	if old.present() {
		e.made = appendQuoted(e.made, text)
		e.replace(old, from)
		return
	}
	e.made = append(e.made, key...)
	e.made = appendQuoted(e.made, text)
	inside := bytes.TrimLeft(e.r.Body[object.start+1:object.end], " \t\r\n")
	if inside[0] != '}' {
		e.made = append(e.made, ',')
	}
	e.insert(object.start+1, from)
}

// allCalls writes what changed of the calls of a message, and takes out members
// of the message: those that it has no more, and others, which come in order.
func (e *encoder) allCalls(m, was *compact.Message, k *messageMark, members []span) error {
	marks := e.r.callsOf(m.Origin)
	var gone []span // of tool_calls
	var legacyGone bool
	left := 0 // of tool_calls
	is := m.Calls
	for i := range was.Calls {
		legacy := was.Calls[i].Kind == compact.CallLegacy
		if len(is) == 0 || int(is[0].Nth) != i+1 {
			if legacy {
				legacyGone = true
			} else {
				gone = append(gone, marks[i].whole)
			}
			continue
		}
		if err := e.call(&is[0], &was.Calls[i], &marks[i]); err != nil {
			return err
		}
		if is = is[1:]; !legacy {
			left++
		}
	}
	if len(is) > 0 {
		return errors.New("a call can neither be added nor moved")
	}
	switch {
	case left == 0 && len(gone) > 0, was.EmptyCalls && !m.EmptyCalls:
		members = append(members, k.toolCall)
	case len(gone) > 0:
		e.remove(gone)
	}
	if legacyGone {
		members = append(members, k.legacy)
	}
	slices.SortFunc(members, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	e.remove(members)
	return nil
}

// call writes what changed of one call.
func (e *encoder) call(is, was *compact.Call, k *callMark) error {
	if is.Kind != was.Kind || is.Name != was.Name {
		return errors.New("kind and name of a call stay")
	}
	if is.ID != was.ID {
		e.set(k.whole, k.id, `"id":`, is.ID)
	}
	if is.Arguments.Equal(was.Arguments) {
		return nil
	}
	if !k.arguments.present() {
		return errors.New("arguments cannot be added to a call")
	}
	from := len(e.made)
	if text := is.Arguments.String(); e.r.Body[k.arguments.start] != '"' && isJSON(text) {
		e.made = append(e.made, text...) // they came as an object, not as a string
	} else {
		e.made = appendQuoted(e.made, text)
	}
	e.replace(k.arguments, from)
	return nil
}
