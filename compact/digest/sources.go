package digest

import (
	"cmp"
	"slices"

	"laconic/compact"
)

// source is a text that left, unwrapped.
type source struct {
	text     string
	number   int // of the text among all that left
	at       int // index of its message
	role     compact.Role
	call     *action // the call of a result, or nil if unknown; or the call whose arguments the text is
	argument bool    // the text is the arguments of a call
	size     int     // bytes of the original text
}

// label returns the name of a source in the record.
func (s *source) label() string {
	switch {
	case s.call != nil && s.call.query == "" && s.call.path+s.call.command != "":
		return s.call.subject()
	case s.call != nil:
		return s.call.name()
	case s.role.Result():
		return "a tool result"
	case s.role == compact.User:
		return "the user"
	}
	return "the assistant"
}

// gather reads the messages that left: their texts, what their calls do, and
// which call each result answers.
func (d *digest) gather() {
	d.actions = make([][]action, len(d.lost))
	calls := callIndex{}
	for i := range d.lost {
		m := &d.lost[i]
		d.actions[i] = make([]action, len(m.Calls))
		for c := range m.Calls {
			d.actions[i][c] = actionOf(&m.Calls[c])
			d.actions[i][c].shown = quote(m.Calls[c].Arguments.String(), argChars)
			calls.add(m, &m.Calls[c], &d.actions[i][c])
		}
	}
	for i := range d.kept {
		m := &d.kept[i]
		for c := range m.Calls {
			calls.add(m, &m.Calls[c], nil)
		}
	}
	calls.sort()
	for i := range d.lost {
		m := &d.lost[i]
		s := source{at: i, role: m.Role}
		if m.Role.Result() {
			s.call = calls.answered(m)
		}
		for p := range m.Parts {
			if m.Parts[p].Kind != compact.KindText {
				continue
			}
			s.text, s.size = m.Parts[p].Text.String(), m.Parts[p].Text.Len()
			if m.Role.Result() {
				s.text = unwrap(s.text)
			}
			s.number = len(d.sources)
			d.sources = append(d.sources, s)
		}
		for c := range m.Calls {
			s.text, s.argument, s.number = unwrap(m.Calls[c].Arguments.String()), true, len(d.sources)
			s.call = &d.actions[i][c]
			s.call.number = s.number
			d.sources = append(d.sources, s)
		}
	}
	for i := range d.sources {
		if s := &d.sources[i]; s.role.Result() && s.call != nil && s.call.result == nil {
			s.call.result = s
		}
	}
}

// callIndex finds calls by what they share with their results. Ids may recur in
// later rounds.
type callIndex map[callKey][]*indexedCall

type callKey struct {
	legacy bool   // function_call: paired by name
	id     string // or the name
}

type indexedCall struct {
	origin int
	call   *compact.Call
	action *action // made on demand
}

func (x callIndex) add(m *compact.Message, c *compact.Call, a *action) {
	key := callKey{id: c.ID}
	if c.Kind == compact.CallLegacy {
		key = callKey{true, c.Name}
	}
	x[key] = append(x[key], &indexedCall{m.Origin, c, a})
}

func (x callIndex) sort() {
	for _, list := range x {
		slices.SortStableFunc(list, func(a, b *indexedCall) int { return cmp.Compare(a.origin, b.origin) })
	}
}

// answered returns the action of the call that a result answers, the last one
// before it with its id, or nil.
func (x callIndex) answered(m *compact.Message) *action {
	list := x[callKey{m.Role == compact.Function, m.Answers}]
	i, _ := slices.BinarySearchFunc(list, m.Origin, func(c *indexedCall, origin int) int { return cmp.Compare(c.origin, origin) })
	if i = max(0, i-1); i >= len(list) {
		return nil
	}
	if list[i].action == nil {
		a := actionOf(list[i].call)
		list[i].action = &a
	}
	return list[i].action
}
