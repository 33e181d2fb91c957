package digest

import (
	"cmp"
	"slices"

	"laconic/compact"
)

// source is a text that left, unwrapped.
type source struct {
	text     string
	role     compact.Role
	argument bool    // the text is the arguments of a call
	call     *action // the call of a result, or nil if unknown; or the call whose arguments the text is
	size     int     // bytes of the original text

	// While the model reads it, and while it leaves:
	found   []sighting // names
	binding []int32    // where words are that bind

	// From then on:
	number   int        // of the text among all that left
	at       int        // index of its message among all that left
	rules    []string   // lines that bind
	siblings []string   // other items of the lists that hold them
	code     bool       // of a text with rules: it looks like source code
	lines    []nameLine // of a short file
	said     []sentence // of a user
	*report             // what it reports, once that was asked
}

// label returns the name of a source in the record.
func (s *source) label() string {
	switch {
	case s.argument:
		return "call " + quote(s.call.tool, 64) + " " + s.call.brief()
	case s.call != nil && s.call.query == "" && s.call.path+s.call.command != "":
		return s.call.brief()
	case s.call != nil:
		return quote(s.call.tool, 64) + " " + s.call.brief()
	case s.role.Result():
		return "a tool result"
	case s.role == compact.User:
		return "the user"
	}
	return "the assistant"
}

// lose notes that a message left. at is its index among all that left.
func (r *Record) lose(m *message, at int) {
	if m.role == compact.Assistant {
		r.all.answers = append(r.all.answers, &answer{message: m})
	}
	for _, s := range m.sources {
		r.index.limit(r.all.messages)
		r.find(s)
		s.at, s.number = at, len(r.all.sources)
		r.all.sources = append(r.all.sources, s)
		switch {
		case s.argument:
			s.call.number = s.number
			r.all.actions = append(r.all.actions, s.call)
			r.note(s.call)
		case s.role.Result():
			if s.call = r.calls.answered(m); s.call != nil && s.call.result == nil {
				s.call.result, s.call.lined = s, ""
			}
			if s.rules, s.siblings = rulesAt(s.text, filtered(s.binding, s.bindsAt), rulesOfSource); len(s.rules) > 0 {
				s.code = isCode(s.text)
				r.all.ruled = append(r.all.ruled, s)
			}
			r.readShort(s)
		case s.role == compact.User:
			r.readUser(s)
		}
		r.index.lose(s, r.all.messages)
		s.found, s.binding = nil, nil
	}
}

// callIndex finds calls by what they share with their results. Ids may recur in
// later rounds.
type callIndex map[callKey][]indexedCall

type callKey struct {
	legacy bool   // function_call: paired by name
	id     string // or the name
}

type indexedCall struct {
	origin int
	action *action
}

// add adds a call, unless it was seen in the same message before.
func (x callIndex) add(m *compact.Message, c *compact.Call, a *action) {
	key := callKey{id: c.ID}
	if c.Kind == compact.CallLegacy {
		key = callKey{true, c.Name}
	}
	list := x[key]
	i, had := search(list, m.Origin)
	if !had {
		x[key] = slices.Insert(list, i, indexedCall{m.Origin, a})
	}
}

// answered returns the action of the call that a result answers, the last one
// before it with its id, or nil.
func (x callIndex) answered(m *message) *action {
	list := x[callKey{m.role == compact.Function, m.answers}]
	i, _ := search(list, m.origin)
	if i = max(0, i-1); i >= len(list) {
		return nil
	}
	return list[i].action
}

func search(list []indexedCall, origin int) (at int, found bool) {
	return slices.BinarySearchFunc(list, origin, func(c indexedCall, origin int) int { return cmp.Compare(c.origin, origin) })
}
