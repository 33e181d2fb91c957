package handover_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/handover"
	"laconic/compact/policy"
	"laconic/compact/promises"
	"laconic/proxy/wire"
	"laconic/proxy/wire/wiretest"
)

// TestTheRequestBeforeIsRepeated walks recorded conversations. At every request
// of theirs the agent asks for a summary instead, with its tools and tool_choice
// none, at every second with a note of the agent behind the prompt. If what was sent
// before fits together with the prompt, the body begins with the same bytes, up to the
// last old message. Whatever is done keeps the promises.
func TestTheRequestBeforeIsRepeated(t *testing.T) {
	prompt := `{"role":"user","content":[{"type":"text","text":"Provide a detailed prompt for continuing our conversation above. ` + strings.Repeat("Name the files. ", 30) + `"}]}`
	const note = `{"role":"system","content":"<total_tokens>14999891 tokens left</total_tokens>"}`
	count := map[string]int{}
	all, every := read(t), 1 // the repository's own are few
	if testing.Short() && wiretest.HasLargerSet(t) {
		every = 4
	}
	for n, e := range policy.Catalogue {
		name := e.Name
		for i, c := range all {
			share := []int{15, 30, 50, 70, 90}[(i+n)%5]
			if (i+n)%every != 0 || name != "adaptive" && (i+n)%7 != 0 {
				continue
			}
			p, err := policy.New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Summaries = name == "adaptive" && i%2 == 1
			counter := compact.Counter(compacttest.Bytes{})
			if p.Counter != nil {
				counter = p.Counter
			}
			whole := decode(t, c.body(len(c.messages)))
			cost := len(c.tools)/4 + compact.CostAll(counter, whole.Conversation.Messages)
			b := compact.Limits{Budget: max(1, cost*share/100)}.For(0)
			msgs := whole.Conversation.Messages
			for _, k := range compacttest.RequestPoints(msgs) {
				if msgs[k-1].Role == compact.Assistant {
					continue // it answers the request of k-1
				}
				history := k
				if p.PerRequest == nil && (k+i)%2 == 1 && k < len(msgs) && len(msgs[k].Calls) == 0 && (k+1 == len(msgs) || msgs[k+1].Role == compact.User) {
					history++ // the agent asks after the answer
				}
				if !slices.ContainsFunc(msgs[:history], func(m compact.Message) bool { return m.Role == compact.Assistant }) {
					continue // no history yet: what users say is left alone together with the prompt
				}
				was := decode(t, c.body(k))
				was.Conversation.Fixed = len(c.tools) / 4
				plan, before := compact.Compact(was.Conversation, p, counter, b)
				sent, err := was.Encode(plan.Apply())
				if err != nil {
					t.Fatal(err)
				}
				is := decode(t, c.body(history, []string{prompt, note}[:1+k/2%2]...))
				is.Conversation.Fixed = was.Conversation.Fixed
				where := fmt.Sprintf("%s, %s at %d %%, request of %d messages", name, c.ID, share, k)
				agent := handover.Of(is.Conversation.Messages, is.NoCalls, false)
				if agent != "opencode" {
					t.Fatalf("%s: %q", where, agent)
				}
				next, r := agent.Compact(is.Conversation, p, counter, b)
				body, err := is.Encode(next.Apply())
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Contains(body, []byte(prompt)) {
					t.Errorf("%s: the prompt changed", where)
				}
				asked := compact.CostAll(counter, is.Conversation.Messages[k:])
				in, by := is.Conversation, p
				kind := "shortened"
				switch {
				case before.After+asked <= before.Budget:
					kind, in.History = "repeated", history
					if old := bytes.TrimSuffix(sent, []byte(c.end())); !bytes.HasPrefix(body, old) {
						t.Errorf("%s: what was sent before is not the beginning of this", where)
					}
				case r.Outcome == compact.Over && r.After >= before.After+asked:
					kind, in.History = "over", history
				default:
					by = handover.Shortening(p)
				}
				count[kind]++
				for _, err := range promises.Broken(in, by, counter, b, &next, r) {
					if promise, _, _ := strings.Cut(err.Error(), ":"); slices.Contains(e.Claims, promise) {
						t.Errorf("%s: %s: %v", where, kind, err)
					}
				}
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
	t.Logf("%v", count)
	if count["repeated"] < 100 || count["shortened"] < 20 {
		t.Error("that is too little to show anything")
	}
}

// chat is one recorded conversation, as JSON.
type chat struct {
	ID       string
	Messages []json.RawMessage
	Tools    json.RawMessage

	messages []string
	tools    string
}

func (c *chat) end() string { return `],"tools":` + c.tools + `,"tool_choice":"none"}` }

// body is a request of the first n messages, and of more after them.
func (c *chat) body(n int, more ...string) []byte {
	return []byte(`{"model":"m","messages":[` + strings.Join(append(c.messages[:n:n], more...), ", ") + c.end())
}

func read(t *testing.T) (all []*chat) {
	for _, name := range wiretest.ConversationFiles(t) {
		for line := range wiretest.Lines(t, name) {
			c := new(chat)
			if err := json.Unmarshal(line, c); err != nil {
				t.Fatal(err)
			}
			if c.tools = string(c.Tools); len(c.Tools) == 0 {
				c.tools = "null"
			}
			for _, m := range c.Messages {
				c.messages = append(c.messages, string(m))
			}
			all = append(all, c)
		}
	}
	return all
}

func decode(t *testing.T, body []byte) *wire.Request {
	t.Helper()
	r, err := wire.Chat.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
