package compact

import "slices"

// paired: walks the list as a strict upstream does.
func (k *checker) paired() {
	open := map[pairKey]int{}
	for i := range k.out {
		m := &k.out[i]
		if m.Role.Result() {
			key := resultKey(m)
			if open[key] == 0 {
				k.fail("paired", "message %d answers %q, which no open call has", i, m.Answers)
				continue
			}
			open[key]--
			if open[key] == 0 {
				delete(open, key)
			}
			continue
		}
		if len(open) > 0 {
			k.fail("paired", "%d calls before message %d have no result", len(open), i)
			clear(open)
		}
		if m.EmptyCalls {
			k.fail("paired", "message %d has an empty list of calls", i)
		}
		if m.Open && i == len(k.out)-1 {
			continue
		}
		for n := range m.Calls {
			key := callKey(&m.Calls[n])
			if open[key] > 0 && !key.legacy {
				k.fail("paired", "message %d uses the id %q twice", i, key.id)
			}
			open[key]++
		}
	}
	if len(open) > 0 {
		k.fail("paired", "%d calls at the end have no result", len(open))
	}
}

// owned: repair keeps each result whose id is in one call and one result of the
// list, behind that call and with its content; what it drops is reported.
func (k *checker) owned() {
	in := k.in.Messages
	repaired, _ := Repair(in, k.plan.Repair)
	type placed struct {
		m    *Message
		call int // Origin of the message with calls before it
	}
	kept := make(map[int]placed, len(repaired))
	quoted, call := 0, Added
	for i := range repaired {
		switch m := &repaired[i]; {
		case m.Role.Result():
			kept[m.Origin] = placed{m, call}
		case m.Origin == Added:
			quoted++ // repair adds no other message
		default:
			call = m.Origin
		}
	}
	type uses struct{ calls, results, call int }
	ids := map[string]uses{}
	for i := range in {
		for _, c := range in[i].Calls {
			if c.Kind != CallLegacy {
				u := ids[c.ID]
				ids[c.ID] = uses{u.calls + 1, u.results, i}
			}
		}
		if in[i].Role == Tool {
			u := ids[in[i].Answers]
			ids[in[i].Answers] = uses{u.calls, u.results + 1, u.call}
		}
	}
	gone, run := 0, make([]int, len(in))
	for i := 0; i < len(in); {
		for end := i + frozen(in[i:]); i < end; i++ {
			run[i] = end // nothing behind it is moved to before it
		}
	}
	for i := range in {
		m := &in[i]
		if !m.Role.Result() {
			continue
		}
		is, ok := kept[m.Origin]
		if !ok && m.says() {
			gone++
		}
		u := ids[m.Answers]
		if m.Role != Tool || m.Answers == "" || u.calls != 1 || u.results != 1 || in[u.call].Open && u.call == len(in)-1 || run[u.call] != run[i] {
			continue
		}
		switch {
		case !ok:
			k.fail("paired", "result %d is gone, though one call and no other result has its id", m.Origin)
		case is.call != in[u.call].Origin || is.m.Answers != m.Answers || !slices.EqualFunc(is.m.Parts, m.Parts, Part.Equal):
			k.fail("paired", "result %d is not behind its call as it came", m.Origin)
		}
	}
	if quoted == 0 && gone != k.r.ResultsDropped || quoted > 0 && gone < k.r.ResultsDropped {
		k.fail("paired", "%d results with content are gone, %d reported", gone, k.r.ResultsDropped)
	}
}
