package digest

import (
	"slices"

	"laconic/compact"
)

// callIndex finds calls by what they share with their results. Ids may recur in
// later rounds.
type callIndex map[string][]indexedCall

type indexedCall struct {
	origin int
	action *action
	event  *event // once the call or its result left
}

// before returns how many calls of an id came before a message, and whether there is
// one in the message.
func (x callIndex) before(id string, origin int) (n int, has bool) {
	return slices.BinarySearchFunc(x[id], origin, func(c indexedCall, origin int) int { return c.origin - origin })
}

// of returns a call of a message. It adds the call, with what it does, if it is not
// there.
func (x callIndex) of(c *compact.Call, origin int, a *action) *indexedCall {
	i, has := x.before(c.ID, origin)
	if !has {
		x[c.ID] = slices.Insert(x[c.ID], i, indexedCall{origin: origin, action: a})
	}
	return &x[c.ID][i]
}

// answered returns the call that a result answers, the last one before it with
// its id, or nil.
func (x callIndex) answered(m *message) *indexedCall {
	i, _ := x.before(m.answers, m.origin)
	if i = max(0, i-1); i >= len(x[m.answers]) {
		return nil
	}
	return &x[m.answers][i]
}
