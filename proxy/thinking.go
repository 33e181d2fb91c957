package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"

	"laconic/compact"
	"laconic/proxy/fingerprint"
	"laconic/proxy/learn"
	"laconic/proxy/overflow"
)

// thinking is what is known of the bound thinking in a request. Anthropic signs
// thinking together with all that stands before it, and refuses it behind
// anything else. The rules are from its documents.
type thinking struct {
	// bound: the client's history holds some, and is planned for that.
	bound bool
	// signed: some was sent.
	signed bool
	// afresh: this is a second send, out of which all of it leaves. It may be
	// bound to a plan that was made under other facts.
	afresh bool
	// cut names the history out of which a second send took it.
	cut learn.CutKey
}

func bound(msgs []compact.Message) bool {
	return slices.ContainsFunc(msgs, func(m compact.Message) bool { return m.Bound })
}

// boundBy sets by what a history with bound thinking is planned: by what is
// configured, what the upstream tells, and a counter that no answer corrects,
// so that what is learnt moves no epoch. Where it must, it adds one.
func (t *trip) boundBy(in *compact.Conversation) {
	if t.bound = bound(in.Messages); !t.bound {
		t.facts.Hard = learn.Fact[int]{}
		return
	}
	t.facts = t.facts.ForBound()
	if t.afresh {
		in.Unbind = len(in.Messages)
		return
	}
	in.Unbind = t.unbindIn(in.Messages)
}

// unbindIn returns the index before which an earlier request of this history took
// bound thinking out; 0: none did, as far as is known.
func (t *trip) unbindIn(msgs []compact.Message) (below int) {
	if t.facts.Cuts == "" {
		return 0
	}
	keys := t.facts.Cuts.Keys()
	t.eachBound(msgs, func(i int, key learn.CutKey) {
		if keys[key] {
			below = i + 1
		}
	})
	return below
}

// cutOf names a history, up to its last bound thinking.
func (t *trip) cutOf(msgs []compact.Message) (key learn.CutKey) {
	t.eachBound(msgs, func(_ int, k learn.CutKey) { key = k })
	return key
}

// eachBound names the beginnings of a list that end with bound thinking.
func (t *trip) eachBound(msgs []compact.Message, yield func(i int, key learn.CutKey)) {
	mac := hmac.New(sha256.New, t.p.factSecret)
	_, _ = mac.Write([]byte("cut 1"))
	list := fingerprint.NewChain(mac.Sum(nil))
	for i := range msgs {
		list.Add(&msgs[i])
		if msgs[i].Bound {
			yield(i, learn.CutKey([]byte(list.Sum())))
		}
	}
}

// remember notes the history out of which the second send took its thinking, once
// that is answered: later requests leave out the same.
func (t *trip) remember() {
	if t.bound {
		t.learnt.AddCut(t.cut)
	}
}

// afterThinking answers a refusal that is about bound thinking. All of it leaves,
// also that of the turn in which the model is: where one piece is bound to another
// history, so is what came after it, and what came before it was written for the
// same list as it.
func (t *trip) afterThinking(wrong overflow.Thinking) (a *again) {
	i := t.note(reasonThinking)
	switch {
	case wrong == overflow.ThinkingMissing:
		i.Why = "missing"
	case !t.signed:
		i.Why = "none"
	default:
		if a = t.plan(t.facts); a == nil {
			i.Why = "memory"
		}
	}
	return a
}
