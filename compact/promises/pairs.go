package promises

import (
	"fmt"
	"math"
	"slices"

	"laconic/compact"
)

// Pairs returns an error unless each message with calls is directly followed by one
// result for each of them, and no other result is in the list, as strict upstreams
// demand it. The model is to continue a last message that is open.
func Pairs(msgs []compact.Message) error {
	for i := 0; i < len(msgs); i++ {
		m := &msgs[i]
		switch {
		case m.Role.Result():
			return fmt.Errorf("message %d answers %q, which no open call has", i, m.Answers)
		case m.Flawed:
			return fmt.Errorf("message %d has a flaw that its wire found", i)
		case m.Open && i == len(msgs)-1:
			return nil
		}
		open := map[string]int{}
		for _, c := range m.Calls {
			if _, named := compact.NameIn(c.ID); open[c.ID] > 0 && !named {
				return fmt.Errorf("message %d uses the id %q twice", i, c.ID)
			}
			open[c.ID]++
		}
		for range m.Calls {
			i++
			if i >= len(msgs) || !msgs[i].Role.Result() || open[msgs[i].Answers] == 0 {
				return fmt.Errorf("message %d is where a result is due", i)
			}
			open[msgs[i].Answers]--
		}
	}
	return nil
}

// owned: repair keeps each result whose id is in one call and one result of the
// list, after that call and with its content; what it drops is reported.
func (k *checker) owned() {
	in, repaired := k.in.Messages, k.repaired
	type placed struct {
		m    *compact.Message
		call int // Origin of the message with calls before it
	}
	kept := make(map[int]placed, len(repaired))
	quoted, call := 0, compact.Added
	for i := range repaired {
		switch m := &repaired[i]; {
		case m.Role.Result():
			kept[m.Origin] = placed{m, call}
		case m.Origin == compact.Added:
			quoted++ // repair adds no other message
		default:
			call = m.Origin
		}
	}
	type uses struct{ calls, results, call int }
	ids := map[string]uses{}
	for i := range in {
		for _, c := range in[i].Calls {
			u := ids[c.ID]
			ids[c.ID] = uses{u.calls + 1, u.results, i}
		}
		if in[i].Role.Result() {
			u := ids[in[i].Answers]
			ids[in[i].Answers] = uses{u.calls, u.results + 1, u.call}
		}
	}
	gone, run := 0, make([]int, len(in))
	for i := 0; i < len(in); {
		for end := i + compact.Frozen(in[i:]); i < end; i++ {
			run[i] = end // nothing after it moves to before it
		}
	}
	for i := range in {
		m := &in[i]
		if !m.Role.Result() {
			continue
		}
		is, ok := kept[m.Origin]
		if !ok && m.Says() {
			gone++
		}
		u := ids[m.Answers]
		if _, named := compact.NameIn(m.Answers); m.Answers == "" || named || u.calls != 1 || u.results != 1 || in[u.call].Open && u.call == len(in)-1 || run[u.call] != run[i] {
			continue
		}
		switch {
		case !ok:
			k.fail("paired", "result %d is gone, though one call and no other result has its id", m.Origin)
		case is.call != in[u.call].Origin || is.m.Answers != m.Answers || !slices.EqualFunc(is.m.Parts, m.Parts, compact.Part.Equal):
			k.fail("paired", "result %d is not behind its call as it came", m.Origin)
		}
	}
	if quoted == 0 && gone != k.r.ResultsDropped || quoted > 0 && gone < k.r.ResultsDropped {
		k.fail("paired", "%d results with content are gone, %d reported", gone, k.r.ResultsDropped)
	}
}

// bound: bound thinking follows the same messages as when it was written. So
// all that is older than an epoch, or was taken out by an earlier request, is
// away, and none is missing from the middle. Within a turn of the model there is an
// epoch only if the request did not fit.
func (k *checker) bound() {
	msgs, last := k.repaired, 0
	if n := len(k.plan.Epochs); n > 0 {
		last = k.plan.Epochs[n-1].At
	}
	at := make(map[int]int, len(msgs))
	for i := range msgs {
		at[msgs[i].Origin] = i
	}
	first := math.MaxInt // index of the first message that has its bound thinking
	for i := range k.out {
		m := &k.out[i]
		switch {
		case m.Origin == compact.Added:
		case m.Bound() && at[m.Origin] < last:
			k.fail("stable", "message %d has thinking that is bound to what stood before an epoch", m.Origin)
		case m.Bound() && m.Origin < k.in.Unbind:
			k.fail("stable", "message %d has thinking that an earlier request took out", m.Origin)
		case m.Bound():
			first = min(first, i)
		case i > first && msgs[at[m.Origin]].Bound():
			k.fail("stable", "the thinking of message %d is missing from the middle", m.Origin)
		}
	}
	for _, e := range k.plan.Epochs {
		if e.At == 0 || e.At > len(msgs) || !msgs[e.At-1].Role.Result() || k.p.PerRequest != nil || e.At > k.b.Messages || e.Before > e.Budget {
			continue
		}
		for _, u := range k.plan.Edits {
			if u.Op == compact.OpUnbind && u.Epoch > 0 && k.plan.Epochs[u.Epoch-1] == e {
				k.fail("kept", "message %d lost its thinking within a turn, at an epoch of %d tokens of %d", u.Origin, e.Before, e.Budget)
			}
		}
	}
}
