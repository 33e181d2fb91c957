package plan

import (
	"encoding/hex"
	"slices"

	"laconic/compact"
	"laconic/proxy/fingerprint"
	"laconic/proxy/learn"
)

// Anthropic signs thinking together with all that comes before it, and refuses it
// after anything else: such thinking is bound. The rules are from its documents.

// bound reports whether a list holds bound thinking.
func bound(msgs []compact.Message) bool {
	return slices.ContainsFunc(msgs, func(m compact.Message) bool { return m.Bound() })
}

// factsFor returns the facts by which a conversation is planned. One with bound thinking is
// planned by the configuration, the published limits, and a counter that answers correct from
// the next message on, so that learnt facts move no epoch. Where one must, it adds an epoch.
// factsFor sets which thinking leaves: all, or that which left an earlier request.
func (t *Terms) factsFor(in *compact.Conversation, f learn.Facts, isBound, all bool) learn.Facts {
	if !isBound {
		f.Hard = learn.Fact[int]{}
		return f
	}
	f = f.ForBound()
	if all {
		in.Unbind = len(in.Messages)
		return f
	}
	if len(f.Cuts) > 0 {
		t.eachBound(in.Messages, func(i int, name string) {
			if f.HasCut(name) {
				in.Unbind = i + 1
			}
		})
	}
	return f
}

// CutOf names a history, up to its last bound thinking.
func (t *Terms) CutOf(msgs []compact.Message) (name string) {
	t.eachBound(msgs, func(_ int, n string) { name = n })
	return name
}

// eachBound names the beginnings of a list that end with bound thinking.
func (t *Terms) eachBound(msgs []compact.Message, yield func(i int, name string)) {
	start := t.Learnt.Key("cut")
	list := fingerprint.NewChain(start[:])
	for i := range msgs {
		list.Add(&msgs[i])
		if msgs[i].Bound() {
			yield(i, hex.EncodeToString([]byte(list.Sum())[:16]))
		}
	}
}
