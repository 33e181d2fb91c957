package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
)

// hostile are lists of about n calls that were made to cost repair much.
var hostile = map[string]func(n int) []compact.Message{
	"ids that new ids would take": func(n int) []compact.Message {
		m := calling()
		for i := range n {
			m.Calls = append(m.Calls, compact.Call{ID: fmt.Sprint("call_", n+1+i)}, compact.Call{})
		}
		return []compact.Message{m}
	},
	"ids that second ids would take": func(n int) []compact.Message {
		m := calling()
		for i := range n {
			m.Calls = append(m.Calls, compact.Call{ID: fmt.Sprint("a_", n+1+i)}, compact.Call{ID: "a"})
		}
		return []compact.Message{m}
	},
	"nine letters, all the same": func(n int) []compact.Message {
		m := calling()
		for i := range n {
			number := fmt.Sprint(n + 1 + i)
			m.Calls = append(m.Calls, compact.Call{ID: "abcdefghi"[:9-len(number)] + number}, compact.Call{ID: "abcdefghi"})
		}
		return []compact.Message{m}
	},
	"late results of all rounds": func(n int) (msgs []compact.Message) {
		for i := range n {
			msgs = append(msgs, calling(fmt.Sprint(i)), answer("one moment"))
		}
		for i := range n {
			msgs = append(msgs, result(fmt.Sprint(n-1-i)))
		}
		return msgs
	},
	"early results of all rounds": func(n int) (msgs []compact.Message) {
		for i := range n {
			msgs = append(msgs, result(fmt.Sprint(i)))
		}
		for i := range n {
			msgs = append(msgs, calling(fmt.Sprint(n-1-i)), answer("one moment"))
		}
		return msgs
	},
	"one id for everything": func(n int) (msgs []compact.Message) {
		for range n {
			msgs = append(msgs, calling("a", "a"), answer("one moment"), result("a"), result("a"), result("a"))
		}
		return msgs
	},
	"adjacent callers, results from behind": func(n int) (msgs []compact.Message) {
		for i := range n {
			msgs = append(msgs, calling(fmt.Sprint(i)))
		}
		for i := range n {
			msgs = append(msgs, result(fmt.Sprint(n-1-i)))
		}
		return msgs
	},
	"results between users": func(n int) []compact.Message {
		m := calling()
		var rest []compact.Message
		for i := range n {
			m.Calls = append(m.Calls, compact.Call{ID: fmt.Sprint(i)})
			rest = append(rest, result(fmt.Sprint(n-1-i)), compact.Message{Role: compact.User})
		}
		return append([]compact.Message{m}, rest...)
	},
	"nothing but orphans": func(n int) (msgs []compact.Message) {
		for range n {
			msgs = append(msgs, result(""))
		}
		return msgs
	},
}

func calling(ids ...string) compact.Message {
	m := compact.Message{Role: compact.Assistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, compact.Call{ID: id})
	}
	return m
}

func answer(text string) compact.Message {
	return compact.Message{Role: compact.Assistant, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}}
}

func result(id string) compact.Message {
	return compact.Message{Role: compact.Tool, Answers: id, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(strings.Repeat("x", 20))}}}
}

// TestRepairIsLinear: four times the list costs four times the work, counted in
// allocations, not in time.
func TestRepairIsLinear(t *testing.T) {
	for name, list := range hostile {
		work := func(n int) float64 {
			msgs := list(n)
			for i := range msgs {
				msgs[i].Origin = i
			}
			return testing.AllocsPerRun(1, func() { compact.Repair(msgs, compact.RepairAnswer) })
		}
		small, large := work(500), work(2000)
		if large > 5*small {
			t.Errorf("%s: %.0f allocations, and %.0f for four times as much", name, small, large)
		}
	}
}
