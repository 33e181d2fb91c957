//go:build unix

package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"laconic/e2e/rig"
)

// recordings returns conversations of more than least and at most most bytes.
func recordings(t *testing.T, least, most int) []*rig.Chat {
	t.Helper()
	return slices.DeleteFunc(rig.Chats(t, nil), func(c *rig.Chat) bool { return c.Size <= least || c.Size > most })
}

// requests returns the bodies that the agent sent, at most so many, the last ones.
func requests(c *rig.Chat, model string, most int) (all [][]byte) {
	c.Model = model
	points := c.Points()
	points = points[:len(points)-1]
	for _, k := range points[max(0, len(points)-most):] {
		all = append(all, c.Body(c.Messages[:k], ","))
	}
	return all
}

// answer is what a client got for a request.
type answer struct{ replica, id, outcome string }

// send sends one request, and reads its answer. headers are names and values, in turn.
func (c *cluster) send(url string, body []byte, headers ...string) (a answer, err error) {
	status, h, text, err := rig.Ask(http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body), headers...)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", status, text)
	}
	return answer{h.Get("X-Replica"), h.Get("X-Laconic-Request-Id"), h.Get("X-Laconic-Outcome")}, err
}

// replay sends conversations request by request, several of them at once, and
// returns the ids of the requests of each.
func (c *cluster) replay(all []*rig.Chat, most int) [][]answer {
	c.t.Helper()
	ids := make([][]answer, len(all))
	var workers sync.WaitGroup
	free := make(chan bool, 2)
	for i := range all {
		free <- true
		workers.Go(func() {
			defer func() { <-free }()
			for n, body := range requests(all[i], "gpt-4o", most) {
				a, err := c.send(c.URL, body, "X-Conversation", all[i].ID, "Authorization", "Bearer sk-replay")
				if err != nil {
					c.t.Errorf("%s, request %d: %v", all[i].ID, n, err)
					return
				}
				ids[i] = append(ids[i], a)
			}
		})
	}
	workers.Wait()
	return ids
}

// TestReplicasSendWhatOneProcessSends replays recorded conversations, so that each
// request of one meets another replica. Replicas without a store send the same
// bytes as one process; with summaries, the same as one process with summaries, and
// each gap is summarized once in all.
func TestReplicasSendWhatOneProcessSends(t *testing.T) {
	n, most := 10, 25 // of all agents, since few conversations tell of a fault in the fold
	if full(t) {
		n, most = 40, 60
	}
	all := sample(recordings(t, 60<<10, 300<<10), n)
	for _, s := range []struct {
		name   string
		config string
		redis  bool
	}{
		{"digests, no store", "models: [{match: \"*\", budget: 9000}]\n", false},
		{"summaries, one Redis", "models: [{match: \"*\", budget: 9000}]\nsummarizer: {model: house-summaries, wait: 20s}\n", true},
	} {
		t.Run(s.name, func(t *testing.T) {
			var one, three *cluster
			var answers [][]answer
			for try := 1; ; try++ {
				one = start(t, setup{replicas: 1, config: s.config, noRedis: !s.redis})
				three = start(t, setup{replicas: 3, config: s.config, noRedis: !s.redis})
				one.replay(all, most)
				answers = three.replay(all, most)
				if n := one.lapses() + three.lapses(); n == 0 || try == 4 {
					break
				}
				// A machine that gives Redis no 100 ms tells nothing of one that has them.
				t.Logf("the store did not answer in time; once more")
			}
			seen := compare(t, all, answers, three, one)
			prompts, times := three.upstream.asked()
			_, alone := one.upstream.asked() // two gaps may make the same prompt
			note(t, "agreement", seen.row(s.name, len(all), asked(alone, times)))
			if alone != times || s.redis && times == 0 {
				t.Errorf("one process asked for %d summaries, three asked %d times, with %d prompts", alone, times, prompts)
			}
			if seen.continued < seen.requests/3 || seen.epochs < len(all) || seen.others < seen.requests/3 {
				t.Errorf("that is too little to show anything: %+v", seen)
			}
			for _, what := range slices.Concat(one.upstream.complaints(), three.upstream.complaints()) {
				t.Errorf("the upstream got what no client may send: %s", what)
			}
		})
	}
}

// agreement is what was seen of conversations that several replicas served.
type agreement struct {
	requests, continued, epochs int
	others                      int // requests that met another replica than the one before
}

// row is its row in the table.
func (a agreement) row(name string, conversations int, summaries string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d %% | %d | %s |\n", name, conversations, a.requests, a.epochs,
		100*a.others/max(1, a.requests-conversations), a.continued, summaries)
}

// compare tells where a replica sent other bytes than one process alone, and where
// what was sent before is no prefix although no epoch began.
func compare(t *testing.T, all []*rig.Chat, answers [][]answer, three, one *cluster) (seen agreement) {
	t.Helper()
	lines := three.lines()
	for i := range all {
		got := three.upstream.got(all[i].ID)
		if len(got) != len(answers[i]) {
			t.Errorf("%s: of %d requests %d arrived", all[i].ID, len(answers[i]), len(got))
			continue
		}
		for n := range got {
			want := one.upstream.got(all[i].ID)
			if seen.requests++; n >= len(want) || !bytes.Equal(want[n], got[n]) {
				t.Errorf("%s, request %d: replica %s sent other bytes than one process", all[i].ID, n, answers[i][n].replica)
				break
			}
			if n == 0 {
				continue
			}
			before, now := lines[answers[i][n-1].id], lines[answers[i][n].id]
			if before.replica != now.replica {
				seen.others++
			}
			switch {
			case continues(got[n-1], got[n]):
				seen.continued++
			case before.Epochs == now.Epochs && now.Summary == before.Summary:
				t.Errorf("%s, request %d: no epoch began, and what was sent before is no prefix of it", all[i].ID, n)
			default:
				seen.epochs++
			}
		}
	}
	return seen
}

// lapses returns how often a replica found the store out of reach.
func (c *cluster) lapses() (n int) {
	for _, r := range c.replicas {
		n += strings.Count(r.Output(), `"msg":"store"`)
	}
	return n
}

func asked(gaps, times int) string {
	if times == 0 {
		return "–"
	}
	return fmt.Sprintf("%d gaps, asked %d times", gaps, times)
}

// sample returns n of a list, spread over it.
func sample[T any](all []T, n int) (some []T) {
	for i := range min(n, len(all)) {
		some = append(some, all[i*len(all)/min(n, len(all))])
	}
	return some
}

// continues reports whether the messages of a body begin with those of the one
// before.
func continues(before, now []byte) bool {
	a, b := gjson.GetBytes(before, "messages").Raw, gjson.GetBytes(now, "messages").Raw
	return strings.HasPrefix(b, strings.TrimSuffix(a, "]"))
}

// conversation returns a body whose messages cost some tokens for each of n calls.
func conversation(model string, n, size int, thinking bool) []byte {
	messages := []any{
		map[string]any{"role": "system", "content": "You are a careful engineer."},
		map[string]any{"role": "user", "content": "Make the parser accept quoted names, please."},
	}
	for i := range n {
		id := fmt.Sprintf("call_%08d", i)
		var text strings.Builder
		for row := 0; text.Len() < size; row++ {
			fmt.Fprintf(&text, "\tif name := p.names[%d]; name != \"\" && !p.quoted(name, %d) {\n", row, i)
		}
		m := map[string]any{"role": "assistant", "content": "Let me look at the next file.", "tool_calls": []any{
			map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read", "arguments": fmt.Sprintf(`{"path":"internal/parser/file_%d.go"}`, i)}},
		}}
		if thinking {
			m["thinking_blocks"] = []any{map[string]any{"type": "thinking", "thinking": "The next one.", "signature": fmt.Sprintf("SIG%d", i)}}
		}
		messages = append(messages, m, map[string]any{"role": "tool", "tool_call_id": id, "content": text.String()})
	}
	body, err := json.Marshal(map[string]any{"model": model, "messages": messages})
	if err != nil {
		panic(err)
	}
	return body
}

// TestWhatOneReplicaLearnsTheOthersKnow within a second: a limit, how the upstream
// counts, the shape that its template takes, and thinking that it refused. Until
// then the others are refused once, and answer all the same.
func TestWhatOneReplicaLearnsTheOthersKnow(t *testing.T) {
	full(t)
	c := start(t, setup{replicas: 3, config: `
models:
  - {match: "plain-*", budget: 6000}
  - {match: "*", window: 100000}
`})
	for _, f := range []struct {
		name, model, page, decisive string
		body                        []byte
		times                       int // that are sent to teach
	}{
		{"a limit", "small-1", `"small-1"[^\n]*window 6000`, "window", conversation("small-1", 30, 1500, false), 1},
		{"a factor", "heavy-1", `"heavy-1"[^\n]*counts`, "count", conversation("heavy-1", 30, 1500, false), 4},
		{"a shape", "plain-1", `"plain-1"[^\n]*shape no slot`, "shape", conversation("plain-1", 40, 1500, false), 1},
		{"a thinking cut", "bound-1", `"bound-1"[^\n]*thinking taken out of 1`, "thinking", conversation("bound-1", 5, 600, true), 1},
	} {
		for _, r := range c.replicas { // each has been asked for the model
			if _, err := c.send("http://"+r.addr, conversation(f.model, 1, 30, false), "Authorization", "Bearer sk-1"); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
		}
		for i := range f.times {
			body := f.body
			if f.times > 1 {
				body = conversation(f.model, 20+5*i, 1500, false)
			}
			if _, err := c.send("http://"+c.replicas[0].addr, body, "Authorization", "Bearer sk-1"); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
		}
		began := time.Now()
		for _, r := range c.replicas[1:] {
			rig.Eventually(t, f.name+" at replica "+r.name, func() bool { return r.knows(f.page) })
		}
		took := time.Since(began)
		refused := c.upstream.refusals(f.model)
		for _, r := range c.replicas[1:] {
			a, err := c.send("http://"+r.addr, f.body, "Authorization", "Bearer sk-1")
			if err != nil {
				t.Errorf("%s, at replica %s: %v", f.name, r.name, err)
			}
			rig.Eventually(t, "the line of "+a.id, func() bool { return c.lines()[a.id].ID != "" })
			if l := c.lines()[a.id]; !slices.Contains(l.Decisive, f.decisive) {
				t.Errorf("%s, at replica %s: the line names %v", f.name, r.name, l.Decisive)
			}
		}
		if n := c.upstream.refusals(f.model); n != refused {
			t.Errorf("%s: the upstream refused %d times before and %d after the others knew", f.name, refused, n)
		}
		if took > time.Second {
			t.Errorf("%s: the others knew after %v", f.name, took)
		}
		note(t, "learnt", fmt.Sprintf("| %s | %d | %v |\n", f.name, refused, upTo(took, 20*time.Millisecond, 100*time.Millisecond, time.Second)))
	}
	for _, what := range c.upstream.complaints() {
		t.Error(what)
	}
}

// upTo says which bound a time is below, since that does not change from run to run.
func upTo(d time.Duration, bounds ...time.Duration) string {
	for _, most := range bounds {
		if d <= most {
			return "below " + most.String()
		}
	}
	return d.Round(10 * time.Millisecond).String()
}
