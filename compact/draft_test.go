package compact_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/promises"
)

// rogue is a stage that tries to make an edit that no stage may make.
type rogue func(d *compact.Draft) bool

func (rogue) Name() string { return "rogue" }

func (s rogue) Shrink(d *compact.Draft) {
	if s(d) {
		panic("the draft made an edit that is not legal")
	}
}

// guarded is a conversation above its budget: instructions, a task with an
// image, an old exchange, a pinned one, a signed one and a recent one.
func guarded() compact.Conversation {
	big := compact.Plain(strings.Repeat("word ", 400))
	text := func(s string) []compact.Part { return []compact.Part{{Text: compact.Plain(s)}} }
	call := func(id string, sealed bool) compact.Message {
		var seal compact.Seal
		if sealed {
			seal = compact.SealCalls
		}
		return compact.Message{Role: compact.Assistant, Shape: compact.Null, Seal: seal, Calls: []compact.Call{{ID: id, Name: "f", Arguments: compact.Plain(`{"a":"` + strings.Repeat("x", 400) + `"}`), Sealed: sealed}}}
	}
	result := func(id string) compact.Message {
		return compact.Message{Role: compact.Tool, Shape: compact.String, Answers: id, Parts: []compact.Part{{Text: big}}}
	}
	msgs := []compact.Message{
		{Role: compact.System, Shape: compact.String, Parts: text("be brief " + strings.Repeat("and careful ", 20))},
		{Role: compact.User, Shape: compact.Array, Parts: append(text("task"), compact.Part{Kind: compact.KindImage, Text: compact.Plain("u")})},
		call("a", false), result("a"), // 2, 3: old
		call("b", false), result("b"), // 4, 5: pinned
		call("c", true), result("c"), // 6, 7: signed
		call("d", false), result("d"), // 8, 9: recent
	}
	return compact.Conversation{Messages: compacttest.Numbered(msgs)}
}

// TestDraftMakesLegalEditsOnly: whatever a stage asks for, instructions, pins,
// the first user message, signed messages and recent ones keep their bytes.
func TestDraftMakesLegalEditsOnly(t *testing.T) {
	type draft = *compact.Draft
	rewrite := func(i, part int) rogue {
		return func(d draft) bool { return d.Rewrite(compact.Ref{Message: i, Part: part}, "x", "because") }
	}
	arguments := func(i, call int, text string) rogue {
		return func(d draft) bool {
			return d.RewriteArguments(compact.CallRef{Message: i, Call: call}, text, "because")
		}
	}
	inLastResort := func(try rogue) rogue { return func(d draft) bool { return d.LastResort(0) != nil && try(d) } }
	for name, try := range map[string]rogue{
		"rewrite instructions":             rewrite(0, 0),
		"rewrite the task":                 rewrite(1, 0),
		"rewrite a pin":                    rewrite(5, 0),
		"rewrite what is recent":           rewrite(9, 0),
		"replace the task's image":         rewrite(1, 1),
		"rewrite what is not there":        rewrite(3, 7),
		"rewrite before the start":         rewrite(-1, 0),
		"rewrite beyond the end":           rewrite(99, 0),
		"cut instructions":                 inLastResort(rewrite(0, 0)),
		"cut a pin":                        inLastResort(rewrite(5, 0)),
		"recent arguments":                 arguments(8, 0, "{}"),
		"pinned arguments":                 arguments(4, 0, "{}"),
		"signed arguments":                 arguments(6, 0, "{}"),
		"cut signed arguments":             inLastResort(arguments(6, 0, "{}")),
		"arguments that are no object":     arguments(2, 0, `{"a":`),
		"cut arguments that are no object": inLastResort(arguments(8, 0, "x")),
		"a call that is not there":         arguments(2, 3, "{}"),
		"a longer text": func(d draft) bool {
			return d.Rewrite(compact.Ref{Message: 3}, strings.Repeat("word ", 500), "because")
		},
		"a cut once the draft fits": inLastResort(func(d draft) bool {
			rewrite(9, 0)(d)
			rewrite(3, 0)(d)
			return d.Excess() == 0 && arguments(8, 0, "{}")(d)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			p := &compact.Policy{Ladder: []compact.Stage{try}, KeepRecent: compact.KeepRecent{Exchanges: 1, Share: 0.01}, Pins: compact.Pins{Messages: []int{4}}}
			compacttest.Compacted(t, guarded(), p, compact.BytesPerToken(3.5), compact.Budget{Tokens: 1400})
		})
	}
}

// TestBrokenSeesEditsOfProtectedMessages: a plan with an edit or a removal of a
// protected message breaks the promise kept.
func TestBrokenSeesEditsOfProtectedMessages(t *testing.T) {
	in, c, b := guarded(), compact.BytesPerToken(3.5), compact.Budget{Tokens: 1400}
	p := &compact.Policy{Ladder: []compact.Stage{rogue(func(d *compact.Draft) bool {
		d.Rewrite(compact.Ref{Message: 3}, "short", "because")
		return false
	})}, KeepRecent: compact.KeepRecent{Exchanges: 1, Share: 0.01}, Pins: compact.Pins{Messages: []int{4}}}
	honest, r := compact.Compact(in, p, c, b)
	if r.Epochs != 1 || len(honest.Edits) != 1 {
		t.Fatalf("%d epochs, %d edits, want one", r.Epochs, len(honest.Edits))
	}
	for name, lie := range map[string]compact.Edit{
		"nothing":                   {},
		"a recent result":           {Op: compact.OpRewrite, At: 9, Text: "x", Epoch: 1, Saved: 1},
		"a recent result, as last":  {Op: compact.OpRewrite, At: 9, Text: "x", Epoch: 1, Saved: 1, Last: true},
		"recent arguments":          {Op: compact.OpArguments, At: 8, Text: "{}", Epoch: 1, Saved: 1},
		"arguments made no object":  {Op: compact.OpArguments, At: 2, Text: "x", Epoch: 1, Saved: 1},
		"a pin":                     {Op: compact.OpRewrite, At: 5, Text: "x", Epoch: 1, Saved: 1},
		"the task":                  {Op: compact.OpRewrite, At: 1, Text: "x", Epoch: 1, Saved: 1},
		"the newest exchange, gone": {Op: compact.OpRemove, At: 8, End: 10, Epoch: 1},
		"a signed result":           {Op: compact.OpArguments, At: 6, Text: "{}", Epoch: 1, Saved: 1},
	} {
		plan := &honest
		if lie.Op != "" {
			plan = honest.Lie(lie)
		}
		kept := true
		for _, err := range promises.Broken(in, p, c, b, plan, r) {
			kept = kept && !strings.HasPrefix(err.Error(), "kept") && !strings.HasPrefix(err.Error(), "untouched")
		}
		if kept != (name == "nothing") {
			t.Errorf("%s: kept is %v", name, kept)
		}
	}
}
