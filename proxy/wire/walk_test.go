package wire_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/promises"
	"laconic/compact/stage"
	"laconic/demo/strict"
	"laconic/proxy/wire"
	"laconic/proxy/wire/wiretest"
)

// upstream is one that knows no limit.
var upstream = strict.New(strict.Options{Limit: -1})

var bytesCounter = compact.BytesPerToken(3.5)

// walks are the APIs whose requests are made of a recorded chat: the bodies that a
// client sends, one behind the other, with reasoning that is sealed or without.
var walks = []struct {
	wire   wire.Wire
	bodies func(t *testing.T, chat []byte, sealed bool) [][]byte
	path   string // of the API at the upstream
	// list is the list of a body as the model reads it, without its last bracket.
	list func(t *testing.T, body []byte) []byte
}{
	{wire.Messages, blocksBodies, "/messages", sameWords},
	{wire.Responses, itemsBodies, "/responses", func(_ *testing.T, body []byte) []byte {
		input := []byte(gjson.GetBytes(body, "input").Raw)
		return input[:len(input)-1]
	}},
}

func blocksBodies(t *testing.T, chat []byte, sealed bool) (bodies [][]byte) {
	system, list := wiretest.Blocks(t, chat, sealed)
	role := func(i int) any { return list[i].(wiretest.Fields)["role"] }
	for i := range list {
		if role(i) == "user" && (i+1 == len(list) || role(i+1) == "assistant") {
			bodies = append(bodies, wiretest.BlocksBody(t, system, list[:i+1]))
		}
	}
	return bodies
}

func itemsBodies(t *testing.T, chat []byte, sealed bool) (bodies [][]byte) {
	items, of := wiretest.Items(t, chat, sealed)
	for i := range items {
		last, f := i+1 == len(items), items[i].(wiretest.Fields)
		switch {
		case !last && items[i+1].(wiretest.Fields)["role"] == "user": // it has no answer, and leaves no request point
		case f["role"] == "developer" || f["role"] == "assistant" || f["type"] != "message" && f["output"] == nil:
		case !last && of[i+1] != of[i] && items[i+1].(wiretest.Fields)["output"] != nil: // no client asks there
		default:
			bodies = append(bodies, wiretest.ItemsBody(t, items[:i+1]))
		}
	}
	return bodies
}

// TestRequestsOfRealConversations: the requests of real conversations are taken by an
// upstream that checks them, whatever left; what was sent stays a prefix of what is
// sent next, marks of the cache aside, except where an epoch began.
func TestRequestsOfRealConversations(t *testing.T) {
	policy := &compact.Policy{Name: "adaptive", Ladder: stage.Default(), Repair: compact.RepairAnswer}
	for _, w := range walks {
		t.Run(w.wire.Name(), func(t *testing.T) {
			requests, edited, over, moved := 0, 0, 0, 0
			for _, file := range wiretest.ConversationFiles(t) {
				n := 0
				for chat := range wiretest.Lines(t, file) {
					if n++; n > 1 && testing.Short() {
						break
					}
					for _, sealed := range []bool{false, true} {
						bodies := w.bodies(t, chat, sealed)
						whole := decoded(t, w.wire, bodies[len(bodies)-1])
						budget := compact.Limits{Budget: compact.CostAll(bytesCounter, whole.Conversation.Messages) / (2 + n%3)}.For(0)
						if n == 1 && !sealed && w.wire == wire.Responses {
							if _, errs := compacttest.Sweep(compact.Conversation{Messages: whole.Conversation.Messages, Rules: whole.Conversation.Rules}, policy, bytesCounter, budget); len(errs) > 0 {
								t.Errorf("%s %d: %v (%d)", file, n, errs[0], len(errs))
							}
						}
						var before []byte
						epochs := 0
						for _, body := range bodies {
							if _, no := upstream.Read(w.path, body); no != nil {
								continue // it came broken
							}
							r := decoded(t, w.wire, body)
							plan, report := compact.Compact(r.Conversation, policy, bytesCounter, budget)
							for _, err := range promises.Broken(r.Conversation, policy, bytesCounter, budget, &plan, report) {
								t.Errorf("%s %d: %v\n%.3000s", file, n, err, body)
							}
							out, err := r.Encode(plan.Apply(""))
							if err != nil {
								t.Fatalf("%s %d: %v\n%.3000s", file, n, err, body)
							}
							if _, no := upstream.Read(w.path, out); no != nil {
								t.Fatalf("%s %d: %v\n%.3000s\nwas\n%.3000s", file, n, no, out, body)
							}
							requests++
							if report.Outcome == compact.Over {
								over++
							}
							if !bytes.Equal(out, body) {
								edited++
							} else if report.Outcome == compact.Repaired || report.Outcome == compact.Compacted {
								t.Errorf("%s %d: %v, and the bytes are the same", file, n, report.Outcome)
							}
							list := slices.Clone(w.list(t, out))
							if before != nil && !bytes.HasPrefix(list, before) {
								if moved++; report.Epochs == epochs {
									t.Errorf("%s %d: what was sent is no prefix, and no epoch began", file, n)
								}
							}
							before, epochs = list, report.Epochs
						}
					}
				}
			}
			t.Logf("%d requests, %d edited, %d over, %d times no prefix", requests, edited, over, moved)
			if edited < requests/10 {
				t.Errorf("%d of %d requests were edited", edited, requests)
			}
		})
	}
}

// sameWords returns the list of a body as the model reads it: without marks, and a
// text as a block.
func sameWords(t *testing.T, body []byte) []byte {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(gjson.GetBytes(body, "messages").Raw), &list); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, m := range list {
		if text, ok := m["content"].(string); ok {
			m["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		for _, b := range m["content"].([]any) {
			delete(b.(map[string]any), "cache_control")
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw...)
	}
	return out
}
