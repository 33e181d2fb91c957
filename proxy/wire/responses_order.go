package wire

import (
	"cmp"
	"slices"
	"strings"

	"laconic/compact"
)

// arrange puts the messages in the order of pairs: what instructs the model beside
// the list, and each result behind its call, wherever it stands in the body.
func (d *itemDecoder) arrange() {
	if d.there {
		d.fail(HistoryElsewhere, d.inputAt, "item_reference")
		return
	}
	for i := range d.msgs {
		// Nobody asks within an answer.
		d.msgs[i].Joined = i > 0 && d.msgs[i].Role == compact.Assistant && d.msgs[i-1].Role == compact.Assistant
		if all := d.states[i].thoughts; all != nil {
			d.msgs[i].Reasoning = compact.Plain(strings.Join(all, "\n"))
		}
	}
	if missing := d.pairItems(); missing && d.stored {
		d.fail(CallElsewhere, d.inputAt, "")
		return
	}
	if !d.blank(d.instructions) {
		d.instruct(d.instructions)
	}
	d.attach()
}

// alike are the types of outputs that differ in nothing but the type.
var alike = map[string]bool{"function_call_output": true, "custom_tool_call_output": true}

// crossing names outputs that have a type, and whose call wants another.
type crossing struct{ id, has, wants string }

// pairItems orders the results, and reports whether one answers a call that is not
// there. The nth output of an id answers its nth call, but two change places if each
// has the type that the other's call wants. One of a similar type is to become the type
// of its call, any other has no call, as in Codex.
func (d *itemDecoder) pairItems() (missing bool) {
	open, called := make(map[string][]int32), make(map[string]string) // calls, types
	of := make([]int32, len(d.calls))                                 // the messages of calls
	for n, kind := range d.callers {
		if id := d.calls[n].ID; called[id] == "" {
			called[id] = kind // an output may stand before its call
		}
	}
	caller := make([]int32, len(d.msgs)) // per result: 1 + the message that calls
	call := make([]int32, len(d.msgs))   // that it answers
	flawed := make([]bool, len(d.msgs))  // it has another type
	crossed, sort := make(map[crossing][]int32), make(map[int32]bool)
	inOrder := true
	for i := range d.msgs {
		for n := d.marks[i].calls.from; n < d.marks[i].calls.to; n++ {
			of[n] = int32(i)
			open[d.calls[n].ID] = append(open[d.calls[n].ID], int32(n))
		}
		if d.msgs[i].Role != compact.Tool {
			continue
		}
		id, kind := d.msgs[i].Answers, d.states[i].kind
		by, q := called[id], open[id]
		missing = missing || by == ""
		if len(q) > 0 {
			by = d.callers[q[0]]
		}
		fits, like := kind == answers[by] || kind == by+"_output", alike[kind] && (by == "" || alike[answers[by]])
		if !fits && !like {
			d.msgs[i].Answers = compact.ByName(id)
			continue
		}
		flawed[i] = !fits && by != ""
		if len(q) == 0 {
			continue
		}
		call[i], caller[i], open[id] = q[0], of[q[0]]+1, q[1:]
		inOrder = inOrder && (int32(i-1) == of[q[0]] || caller[i-1] == caller[i])
		if fits {
			continue
		}
		if c := (crossing{id, answers[by], kind}); len(crossed[c]) > 0 && of[q[0]] < crossed[c][0] { // both stand behind both calls
			j := crossed[c][0]
			crossed[c], inOrder = crossed[c][1:], false
			call[i], call[j], caller[i], caller[j] = call[j], call[i], caller[j], caller[i]
			sort[caller[i]-1], sort[caller[j]-1] = true, true
			flawed[i], flawed[j] = false, false
			continue
		}
		c := crossing{id, kind, answers[by]}
		crossed[c] = append(crossed[c], int32(i))
	}
	for i := range d.msgs {
		d.msgs[i].Flawed = d.msgs[i].Flawed || flawed[i]
		if d.states[i].async {
			d.withoutOpen(i, open)
		}
	}
	if inOrder {
		return missing
	}
	results := make([][]int32, len(d.msgs))
	for i, c := range caller {
		if c > 0 {
			results[c-1] = append(results[c-1], int32(i))
		}
	}
	for m := range sort {
		slices.SortFunc(results[m], func(a, b int32) int { return cmp.Compare(call[a], call[b]) })
	}
	msgs, marks := slices.Clone(d.msgs), slices.Clone(d.marks)
	to := 0
	for i := range msgs {
		if caller[i] > 0 {
			continue
		}
		for _, from := range append([]int32{int32(i)}, results[i]...) {
			d.msgs[to], d.marks[to] = msgs[from], marks[from]
			to++
		}
	}
	return missing
}

// withoutOpen takes the calls from a message that are not answered, and may not be by
// us: their items stay with it.
func (d *itemDecoder) withoutOpen(i int, open map[string][]int32) {
	k := &d.marks[i]
	to := k.calls.from
	for n := k.calls.from; n < k.calls.to; n++ {
		if _, is := slices.BinarySearch(open[d.calls[n].ID], int32(n)); is {
			d.elements[d.ofCalls[n].element].stays = withMessage
			d.msgs[i].Holds, d.msgs[i].Kept = true, true
			d.msgs[i].Seal = compact.SealText | compact.SealArguments
			continue
		}
		d.calls[to], d.ofCalls[to] = d.calls[n], d.ofCalls[n]
		d.calls[to].Nth = to - k.calls.from + 1
		to++
	}
	k.calls.to = to
}

// instruct adds the instructions beside the list, as its first message.
func (d *itemDecoder) instruct(v value) {
	m, k := d.begin()
	m.Role, m.Shape, k.content = compact.System, compact.String, v.extent
	p := compact.Part{Text: d.textOf(v)}
	if v.kind != '"' {
		p = compact.Part{Kind: compact.KindOther, Text: compact.Plain(d.view(int(v.start), int(v.end)))}
		m.Shape = compact.Array
	}
	d.addPart(p, place{element: inList})
	d.end(k)
	d.lead()
}
