package digest

import (
	"slices"

	"laconic/compact"
)

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
	event  *event // once the call or its result left
}

func keyOf(c *compact.Call) callKey {
	if c.Kind == compact.CallLegacy {
		return callKey{true, c.Name}
	}
	return callKey{id: c.ID}
}

// before returns how many calls of a key came before a message, and whether there is
// one in the message.
func (x callIndex) before(key callKey, origin int) (n int, has bool) {
	return slices.BinarySearchFunc(x[key], origin, func(c indexedCall, origin int) int { return c.origin - origin })
}

// of returns a call of a message. It adds the call, with what it does, if it is not
// there.
func (x callIndex) of(c *compact.Call, origin int, a *action) *indexedCall {
	key := keyOf(c)
	i, has := x.before(key, origin)
	if !has {
		x[key] = slices.Insert(x[key], i, indexedCall{origin: origin, action: a})
	}
	return &x[key][i]
}

// answered returns the call that a result answers, the last one before it with
// its id, or nil.
func (x callIndex) answered(m *message) *indexedCall {
	key := callKey{m.role == compact.Function, m.answers}
	i, _ := x.before(key, m.origin)
	if i = max(0, i-1); i >= len(x[key]) {
		return nil
	}
	return &x[key][i]
}
