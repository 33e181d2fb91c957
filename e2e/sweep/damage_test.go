package sweep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// chatLine is one message of a recorded conversation: its bytes, and what damages
// need to know of it.
type chatLine struct {
	raw     []byte
	role    string
	calls   []string // ids
	answers string
	empty   bool // nothing in it: no content, no calls
	text    bool // its content is a text, or has one
}

func lineOf(raw []byte) chatLine {
	l := chatLine{raw: raw, role: gjson.GetBytes(raw, "role").String(), answers: gjson.GetBytes(raw, "tool_call_id").String()}
	for _, id := range gjson.GetBytes(raw, "tool_calls.#.id").Array() {
		l.calls = append(l.calls, id.String())
	}
	c := gjson.GetBytes(raw, "content")
	l.text = c.Type == gjson.String && c.Str != "" || c.IsArray() && c.Get("#.text").String() != "[]"
	switch {
	case c.Type == gjson.Null, c.IsArray() && len(c.Array()) == 0:
		l.empty = len(l.calls) == 0 && !gjson.GetBytes(raw, "function_call").Exists() && !gjson.GetBytes(raw, "reasoning_content").Exists()
	}
	return l
}

// with is the message with one value set. The rest keeps its bytes.
func (l chatLine) with(path string, value any) chatLine {
	raw, err := sjson.SetBytes(slices.Clone(l.raw), path, value)
	if err != nil {
		panic(fmt.Sprintf("BUG: %s of a message: %v", path, err))
	}
	return lineOf(raw)
}

func (l chatLine) without(path string) chatLine {
	raw, err := sjson.DeleteBytes(slices.Clone(l.raw), path)
	if err != nil {
		panic(fmt.Sprintf("BUG: %s of a message: %v", path, err))
	}
	return lineOf(raw)
}

// said is a new message.
func saidBy(role, text string) chatLine {
	return lineOf([]byte(`{"role":` + strconv.Quote(role) + `,"content":` + strconv.Quote(text) + `}`))
}

// toolRound is a message with calls and the run of results behind it.
type toolRound struct{ at, end int }

func (r toolRound) results() int { return r.end - r.at - 1 }

func roundsOf(ls []chatLine) []toolRound {
	var rs []toolRound
	for i, l := range ls {
		if len(l.calls) == 0 {
			continue
		}
		r := toolRound{i, i + 1}
		for r.end < len(ls) && ls[r.end].role == "tool" {
			r.end++
		}
		rs = append(rs, r)
	}
	return rs
}

// damage is one way in which histories come damaged, at a place that chance
// chooses. It gives nil where a history has no such place.
type damage struct {
	name string
	do   func(ls []chatLine, chance *rand.Rand) []chatLine

	items func(items []any, chance *rand.Rand) bool // done to items, which have no other
}

// atRound is a damage done to one round with at least so many results.
func atRound(results int, do func(ls []chatLine, r toolRound, chance *rand.Rand) []chatLine) func([]chatLine, *rand.Rand) []chatLine {
	return func(ls []chatLine, chance *rand.Rand) []chatLine {
		var fit []toolRound
		for _, r := range roundsOf(ls) {
			if r.results() >= results {
				fit = append(fit, r)
			}
		}
		if len(fit) == 0 {
			return nil
		}
		return do(slices.Clone(ls), fit[chance.IntN(len(fit))], chance)
	}
}

// atMessage is a damage done to one message that fits.
func atMessage(fits func(chatLine) bool, do func(chatLine) chatLine) func([]chatLine, *rand.Rand) []chatLine {
	return func(ls []chatLine, chance *rand.Rand) []chatLine {
		var fit []int
		for i, l := range ls {
			if fits(l) {
				fit = append(fit, i)
			}
		}
		if len(fit) == 0 {
			return nil
		}
		ls = slices.Clone(ls)
		i := fit[chance.IntN(len(fit))]
		ls[i] = do(ls[i])
		return ls
	}
}

func plainAnswer(l chatLine) bool { return l.role == "assistant" && len(l.calls) == 0 }
func calling(l chatLine) bool     { return len(l.calls) > 0 }
func result(l chatLine) bool      { return l.role == "tool" }

// setIDs gives the calls of a round, and the results that answer them, other
// ids.
func setIDs(ls []chatLine, r toolRound, id func(n int, old string) any) []chatLine {
	for n, old := range ls[r.at].calls {
		value := id(n, old)
		path := "tool_calls." + strconv.Itoa(n) + ".id"
		if value == nil {
			ls[r.at] = ls[r.at].without(path)
		} else {
			ls[r.at] = ls[r.at].with(path, value)
		}
		for i := r.at + 1; i < r.end; i++ {
			switch {
			case ls[i].answers != old:
			case value == nil:
				ls[i] = ls[i].without("tool_call_id")
			default:
				ls[i] = ls[i].with("tool_call_id", value)
			}
		}
	}
	return ls
}

// legacy writes a round of one call in the old way, with function_call.
func legacy(ls []chatLine, r toolRound) []chatLine {
	call := gjson.GetBytes(ls[r.at].raw, "tool_calls.0.function")
	name := call.Get("name").String()
	ls[r.at] = ls[r.at].with("function_call.name", name).with("function_call.arguments", call.Get("arguments").String()).without("tool_calls")
	for i := r.at + 1; i < r.end; i++ {
		ls[i] = ls[i].with("role", "function").with("name", name).without("tool_call_id")
	}
	return ls
}

// damages are all ways. The first is none; those behind "legal:" break no rule
// of the API, so they must change nothing that fits.
var damages = []damage{
	{name: "none", do: func(ls []chatLine, _ *rand.Rand) []chatLine { return ls }},
	{name: "a result without its call", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Delete(ls, r.at, r.at+1)
	})},
	{name: "a call without its result", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Delete(ls, r.at+1, r.end)
	})},
	{name: "one of several results missing", do: atRound(2, func(ls []chatLine, r toolRound, chance *rand.Rand) []chatLine {
		i := r.at + 1 + chance.IntN(r.results())
		return slices.Delete(ls, i, i+1)
	})},
	{name: "a result before its call", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		ls[r.at], ls[r.at+1] = ls[r.at+1], ls[r.at]
		return ls
	})},
	{name: "a user between call and result", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Insert(ls, r.at+1, saidBy("user", "Wait."))
	})},
	{name: "a system message between two results", do: atRound(2, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Insert(ls, r.at+2, saidBy("system", "It is late."))
	})},
	{name: "a result twice", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Insert(ls, r.end, ls[r.at+1])
	})},
	{name: "a result twice, with another text", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Insert(ls, r.end, ls[r.at+1].with("content", "something else"))
	})},
	{name: "a result far behind its call", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		late := ls[r.at+1]
		return append(slices.Delete(ls, r.at+1, r.at+2), late)
	})},
	{name: "one id for all calls of a message", do: atRound(2, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		first := ls[r.at].calls[0]
		return setIDs(ls, r, func(int, string) any { return first })
	})},
	{name: "empty ids", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return setIDs(ls, r, func(int, string) any { return "" })
	})},
	{name: "no ids", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return setIDs(ls, r, func(int, string) any { return nil })
	})},
	{name: "ids that are numbers", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return setIDs(ls, r, func(n int, _ string) any { return n + 1 })
	})},
	{name: "a result with another id", do: atMessage(result, func(l chatLine) chatLine { return l.with("tool_call_id", "call_of_nobody") })},
	{name: "a result with an empty id", do: atMessage(result, func(l chatLine) chatLine { return l.with("tool_call_id", "") })},
	{name: "a result without an id", do: atMessage(result, func(l chatLine) chatLine { return l.without("tool_call_id") })},
	{name: "an empty list of calls", do: atMessage(plainAnswer, func(l chatLine) chatLine { return l.with("tool_calls", []string{}) })},
	{name: "calls null", do: atMessage(plainAnswer, func(l chatLine) chatLine { return l.with("tool_calls", nil) })},
	{name: "an answer of null", do: atMessage(plainAnswer, func(l chatLine) chatLine { return l.with("content", nil) })},
	{name: "an answer without content", do: atMessage(plainAnswer, func(l chatLine) chatLine { return l.without("content") })},
	{name: "an answer of no parts", do: atMessage(plainAnswer, func(l chatLine) chatLine { return l.with("content", []string{}) })},
	{name: "sliced anywhere", do: func(ls []chatLine, chance *rand.Rand) []chatLine {
		return ls[chance.IntN(len(ls)):]
	}},
	{name: "sliced behind the head", do: func(ls []chatLine, chance *rand.Rand) []chatLine {
		head := 0
		for head < len(ls) && (ls[head].role == "system" || ls[head].role == "developer") {
			head++
		}
		if head == len(ls) {
			return nil
		}
		return slices.Concat(ls[:head], ls[head+chance.IntN(len(ls)-head):])
	}},
	{name: "a result first", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine { return ls[r.at+1:] })},
	{name: "ends with open calls", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine { return ls[:r.at+1] })},
	{name: "two calling messages in a row", do: func(ls []chatLine, chance *rand.Rand) []chatLine {
		var fit [][2]toolRound
		rs := roundsOf(ls)
		for i := 1; i < len(rs); i++ {
			if rs[i-1].end == rs[i].at && rs[i-1].results() > 0 {
				fit = append(fit, [2]toolRound{rs[i-1], rs[i]})
			}
		}
		if len(fit) == 0 {
			return nil
		}
		p := fit[chance.IntN(len(fit))]
		return slices.Concat(ls[:p[0].at+1], ls[p[1].at:p[1].at+1], ls[p[0].at+1:p[0].end], ls[p[1].at+1:])
	}},
	{name: "all results gone", do: func(ls []chatLine, _ *rand.Rand) []chatLine { return slices.DeleteFunc(slices.Clone(ls), result) }},
	{name: "all calls gone", do: func(ls []chatLine, _ *rand.Rand) []chatLine { return slices.DeleteFunc(slices.Clone(ls), calling) }},
	{name: "shuffled", do: func(ls []chatLine, chance *rand.Rand) []chatLine {
		ls = slices.Clone(ls)
		chance.Shuffle(len(ls), func(i, j int) { ls[i], ls[j] = ls[j], ls[i] })
		return ls
	}},
	{name: "function_call without its result", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Delete(legacy(ls, r), r.at+1, r.end)
	})},
	{name: "function result without its call", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		return slices.Delete(legacy(ls, r), r.at, r.at+1)
	})},
	{name: "function result of another name", do: atRound(1, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		ls = legacy(ls, r)
		ls[r.at+1] = ls[r.at+1].with("name", "nobody")
		return ls
	})},
	{name: "legal: function_call", do: func(ls []chatLine, _ *rand.Rand) []chatLine {
		ls = slices.Clone(ls)
		for _, r := range roundsOf(ls) {
			if len(ls[r.at].calls) == 1 && r.results() == 1 {
				ls = legacy(ls, r)
			}
		}
		return ls
	}},
	{name: "legal: results in another order", do: atRound(2, func(ls []chatLine, r toolRound, _ *rand.Rand) []chatLine {
		slices.Reverse(ls[r.at+1 : r.end])
		return ls
	})},
	{name: "legal: ids of an earlier round", do: func(ls []chatLine, _ *rand.Rand) []chatLine {
		rs := roundsOf(ls)
		if len(rs) < 2 {
			return nil
		}
		ls = slices.Clone(ls)
		for _, r := range rs {
			ls = setIDs(ls, r, func(n int, _ string) any { return "call_" + strconv.Itoa(n) })
		}
		return ls
	}},
	{name: "legal: arguments that are not JSON", do: atMessage(calling, func(l chatLine) chatLine {
		return l.with("tool_calls.0.function.arguments", `{"path": "a`)
	})},
	{name: "legal: a result with an image", do: atMessage(result, func(l chatLine) chatLine {
		return l.with("content", []any{
			map[string]string{"type": "text", "text": "the screen"},
			map[string]any{"type": "image_url", "image_url": map[string]string{"url": "https://example.com/a.png"}},
		})
	})},
	{name: "legal: a result of another name", do: atMessage(result, func(l chatLine) chatLine { return l.with("name", "nobody") })},
	{name: "legal: an empty answer", do: atMessage(plainAnswer, func(l chatLine) chatLine { return l.with("content", "") })},
	{name: "legal: unknown fields", do: atMessage(func(chatLine) bool { return true }, func(l chatLine) chatLine {
		return l.with("x_unknown", map[string]any{"a": []int{1, 2}}).with("cache_control", map[string]string{"type": "ephemeral"})
	})},
	{name: "legal: developer for system", do: func(ls []chatLine, _ *rand.Rand) []chatLine {
		ls = slices.Clone(ls)
		for i, l := range ls {
			if l.role == "system" {
				ls[i] = l.with("role", "developer")
			}
		}
		return ls
	}},
}

// hopeless reports whether a list says nothing: an API that refuses an empty
// list leaves no way to make it legal.
func hopeless(ls []chatLine) bool {
	for _, l := range ls {
		if result := l.role == "tool" || l.role == "function"; result && l.text || !result && !(l.role == "assistant" && l.empty) {
			return false
		}
	}
	return true
}
