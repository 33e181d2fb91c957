package sweep

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"laconic/e2e/rig"
	"laconic/proxy/wire/wiretest"
)

// api is an API of upstreams, in which a client may keep a recorded conversation.
type api struct {
	path string
	// body returns a request with some messages of a conversation, with a damage that
	// only this API has: nil where there is none, or no place for it.
	body func(t testing.TB, c *rig.Chat, lines []chatLine, gap string, d *damage, chance *rand.Rand) []byte
}

var apis = []api{
	{"/chat/completions", func(_ testing.TB, c *rig.Chat, lines []chatLine, gap string, d *damage, _ *rand.Rand) []byte {
		if d.items != nil {
			return nil
		}
		return c.Body(raws(lines), gap)
	}},
	{"/messages", func(t testing.TB, c *rig.Chat, lines []chatLine, gap string, d *damage, _ *rand.Rand) []byte {
		system, list := wiretest.Blocks(t, c.Body(raws(lines), gap), false)
		first := slices.IndexFunc(lines, func(l chatLine) bool { return l.role != "system" && l.role != "developer" })
		if d.items != nil || len(list) == 0 || first >= 0 && lines[first].role != "user" {
			return nil // a user has to be first, which repair does not see to
		}
		return wiretest.BlocksBody(t, system, list)
	}},
	{"/responses", func(t testing.TB, c *rig.Chat, lines []chatLine, gap string, d *damage, chance *rand.Rand) []byte {
		items, _ := wiretest.Items(t, c.Body(raws(lines), gap), len(lines)%2 == 1)
		if d.items != nil && !d.items(items, chance) || len(items) == 0 {
			return nil
		}
		return wiretest.ItemsBody(t, items)
	}},
}

// itemDamages are those that a list of items has beside the damages of a chat.
var itemDamages = []damage{
	{name: "items: an id of an earlier item", items: atItems("id", func(a, b wiretest.Fields) bool { return b["type"] != "reasoning" }, func(a, b wiretest.Fields) { b["id"] = a["id"] })},
	{name: "items: a call_id of an earlier call", items: atItems("name", nil, func(a, b wiretest.Fields) { b["call_id"] = a["call_id"] })},
	{name: "items: an output of the other type", items: atItems("output", nil, func(_, b wiretest.Fields) {
		other := map[any]string{"function_call_output": "custom_tool_call_output", "custom_tool_call_output": "function_call_output"}
		b["type"] = other[b["type"]]
	})},
	{name: "items: an output of a type without texts", items: atItems("output", nil, func(_, b wiretest.Fields) { b["type"] = "shell_call_output" })},
}

// atItems is a damage done to two items that have a key and fit.
func atItems(key string, fit func(a, b wiretest.Fields) bool, do func(a, b wiretest.Fields)) func([]any, *rand.Rand) bool {
	return func(items []any, chance *rand.Rand) bool {
		var with []int
		for i := range items {
			if items[i].(wiretest.Fields)[key] != nil {
				with = append(with, i)
			}
		}
		if len(with) < 2 {
			return false
		}
		n := 1 + chance.IntN(len(with)-1)
		a, b := items[with[n-1]].(wiretest.Fields), maps.Clone(items[with[n]].(wiretest.Fields))
		if fit != nil && !fit(a, b) {
			return false
		}
		do(a, b)
		items[with[n]] = b
		return true
	}
}
