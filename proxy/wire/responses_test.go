package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/promises"
	"laconic/compact/stage"
	"laconic/demo/strict"
	"laconic/proxy/wire"
)

// taken is an upstream of the API of responses that knows no limit.
var taken = strict.New(strict.Options{Limit: -1})

// TestItemsOfRealConversations: real conversations as items are taken by an upstream
// that checks them, at every request and whatever left; what was sent stays a prefix
// of what is sent next, except where an epoch began.
func TestItemsOfRealConversations(t *testing.T) {
	counter := compact.BytesPerToken(3.5)
	policy := &compact.Policy{Name: "adaptive", Ladder: stage.Default()}
	requests, edited, moved, over := 0, 0, 0, 0
	for _, file := range compacttest.ConversationFiles(t) {
		n := 0
		for chat := range lines(t, file) {
			if n++; n > 1 && testing.Short() {
				break
			}
			for _, reasons := range []bool{false, true} {
				items, of := compacttest.Items(t, chat, reasons)
				whole := decodeItems(t, compacttest.ItemsBody(t, items, nil))
				peak := compact.CostAll(counter, whole.Conversation.Messages)
				budget := compact.Limits{Budget: peak / (2 + n%3)}.For(0)
				if n < 3 && !reasons {
					if _, errs := compacttest.Sweep(compact.Conversation{Messages: whole.Conversation.Messages, Rules: whole.Conversation.Rules}, policy, counter, budget); len(errs) > 0 {
						t.Errorf("%s %d: %v (%d)", file, n, errs[0], len(errs))
					}
				}
				var before []byte
				epochs := 0
				for i := range items {
					last := i+1 == len(items)
					if !last && items[i+1].(map[string]any)["role"] == "user" {
						continue // what is asked here has no answer, and leaves no request point
					}
					if f := items[i].(map[string]any); f["role"] == "developer" || f["role"] == "assistant" || f["type"] != "message" && f["output"] == nil || !last && of[i+1] != of[i] && items[i+1].(map[string]any)["output"] != nil {
						continue // no client asks there
					}
					body := compacttest.ItemsBody(t, items[:i+1], nil)
					if taken.CheckItems(body) != nil {
						continue // it came broken
					}
					r := decodeItems(t, body)
					plan, report := compact.Compact(r.Conversation, policy, counter, budget)
					for _, err := range promises.Broken(r.Conversation, policy, counter, budget, &plan, report) {
						t.Errorf("%s %d, %d items: %v", file, n, i+1, err)
					}
					out, err := r.Encode(plan.Apply(""))
					if err != nil {
						t.Fatalf("%s %d, %d items: %v", file, n, i+1, err)
					}
					requests++
					if report.Outcome == compact.Over {
						over++
					}
					if !bytes.Equal(out, body) {
						edited++
					} else if report.Outcome == compact.Repaired || report.Outcome == compact.Compacted {
						t.Errorf("%s %d, %d items: %v, and the bytes are the same", file, n, i+1, report.Outcome)
					}
					if no := taken.CheckItems(out); no != nil {
						t.Fatalf("%s %d, %d items: %v\n%.3000s", file, n, i+1, no, out)
					}
					input := []byte(gjson.GetBytes(out, "input").Raw)
					input = input[:len(input)-1] // without the bracket
					if before != nil && !bytes.HasPrefix(input, before) {
						if moved++; report.Epochs == epochs {
							t.Errorf("%s %d, %d items: what was sent is no prefix, and no epoch began", file, n, i+1)
						}
					}
					before, epochs = slices.Clone(input), report.Epochs
				}
			}
		}
	}
	t.Logf("%d requests, %d edited, %d over, %d times no prefix", requests, edited, over, moved)
	if edited < requests/10 {
		t.Errorf("%d of %d requests were edited", edited, requests)
	}
}

func decodeItems(t *testing.T, body []byte) *wire.Request {
	t.Helper()
	r, err := wire.Responses.Decode(body)
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, body)
	}
	unedited(t, r)
	return r
}
