package wire

import (
	"bytes"
	"errors"

	"laconic/compact"
)

// differences compares an edited message with the one that was decoded, and
// collects what to splice into its bytes.
func (e *encoder) differences(m *compact.Message) error {
	was := &e.r.Conversation.Messages[m.Origin]
	k := &e.r.marks[m.Origin]
	if m.Role != was.Role || m.Shape != was.Shape || !m.Reasoning.Equal(was.Reasoning) {
		return errors.New("role, shape of content and reasoning stay")
	}
	if m.Name != was.Name && m.Role != compact.Function {
		return errors.New("the name stays")
	}
	if m.Answers != was.Answers {
		if err := e.answers(m, k); err != nil {
			return err
		}
	}
	if err := e.allCalls(m, was, k); err != nil {
		return err
	}
	return e.content(m, was, k)
}

// answers gives a result another call to answer.
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

// allCalls writes what changed of the calls of a message.
func (e *encoder) allCalls(m, was *compact.Message, k *messageMark) error {
	marks := e.r.callsOf(m.Origin)
	same := func(i, j int) bool { return sameCall(&was.Calls[i], &m.Calls[j]) }
	var gone []span // of tool_calls
	var legacyGone bool
	left := 0 // of tool_calls
	j := 0    // index in m.Calls
	for i := range was.Calls {
		legacy := was.Calls[i].Kind == compact.CallLegacy
		if leaves(i, len(was.Calls), j, len(m.Calls), same) {
			if legacy {
				legacyGone = true
			} else {
				gone = append(gone, marks[i].whole)
			}
			continue
		}
		if err := e.call(&m.Calls[j], &was.Calls[i], &marks[i]); err != nil {
			return err
		}
		if j++; !legacy {
			left++
		}
	}
	if j < len(m.Calls) {
		return errors.New("a call cannot be added")
	}
	var members []span // of the message
	switch {
	case left == 0 && len(gone) > 0, was.EmptyCalls && !m.EmptyCalls:
		members = append(members, k.toolCall)
	case len(gone) > 0:
		e.remove(gone)
	}
	if legacyGone {
		members = append(members, k.legacy)
		if len(members) == 2 && members[0].start > members[1].start {
			members[0], members[1] = members[1], members[0]
		}
	}
	e.remove(members)
	return nil
}

// farthest is how far ahead an edited part or call is looked for among the
// client's. OpenAI takes 128 calls in a message.
const farthest = 256

// leaves tells, of n things of which some left and of m that are there now,
// whether the ith left, when those that are there now are the client's from
// the jth on. It did when the jth is found further on; what is found nowhere
// was changed where it stands, and what is too many at the end left.
func leaves(i, n, j, m int, same func(i, j int) bool) bool {
	if j == m {
		return true
	}
	spare := (n - i) - (m - j)
	if spare <= 0 || same(i, j) {
		return false
	}
	for ahead := 1; ahead <= min(spare, farthest); ahead++ {
		if same(i+ahead, j) {
			return true
		}
	}
	return false
}

// sameCall tells whether an edited call is that of the client: repair may have
// changed its id, a stage its arguments, hardly ever both and a call beside it
// removed.
func sameCall(was, is *compact.Call) bool {
	return was.Kind == is.Kind && was.Name == is.Name && (was.ID == is.ID || was.Arguments.Equal(is.Arguments))
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
