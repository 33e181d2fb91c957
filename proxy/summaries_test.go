package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/e2e/rig"
	"laconic/proxy/summarize"
	"laconic/store"
)

// history is what an agent sends after n rounds: a task, then calls with
// results, each of which names a file that stands nowhere else.
func history(n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"do it, never touch /etc/hosts"}`)
	for i := range n {
		if i%8 == 5 {
			fmt.Fprintf(&b, `,{"role":"assistant","content":"done with %d"},{"role":"user","content":"Step %d: port %d. You must keep build/out-%d.txt as it is."}`, i, i, 9000+i, i)
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"src/f%d.go\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, strings.Repeat(fmt.Sprintf("line of f%d. ", i), 60))
	}
	b.WriteString(`]}`)
	return b.String()
}

// told is the text a summarizer of these tests gives.
const told = "Task: the files are read one after the other.\nState: half of them were read, nothing was changed so far."

// answered is a chat completion with this text.
func answered(text, finish string) string {
	content, _ := json.Marshal(text)
	return `{"id":"s","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":` + string(content) + `},"finish_reason":"` + finish + `"}]}`
}

// tells is a summarizer that gives always the same answer.
func tells(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func memoryStore(t testing.TB) *store.Vault {
	t.Helper()
	v := must(store.Open(store.Options{}))
	t.Cleanup(v.Close)
	return v
}

// summarized makes a proxy with a summarizer and the real ladder.
func summarized(t testing.TB, u, model *upstream, change ...func(*Options)) *running {
	t.Helper()
	return inFrontOf(t, u, append([]func(*Options){func(o *Options) {
		o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: stage.Default()}
		o.Default.Counter = compact.BytesPerToken(3.5)
		o.Default.Limits = compact.Limits{Budget: 4000}
		o.Summarizer = &summarize.Options{
			Upstream: model.base(t, "/v1"), Model: "small", Key: "own-key",
			Counter: compact.BytesPerToken(3.5), Mask: true,
		}
		o.Store = memoryStore(t)
	}}, change...)...)
}

// quietly waits until no summary is in the making.
func (r *running) quietly() {
	r.t.Helper()
	rig.Eventually(r.t, "no summary is in the making", func() bool { return r.State().Summarizing == 0 })
}

// slotOf is what follows the first user message's own text.
func slotOf(t testing.TB, body []byte) string {
	t.Helper()
	return strings.TrimPrefix(gjson.GetBytes(body, "messages.1.content").Str, "do it, never touch /etc/hosts")
}

// planned is what was planned for the request of turn n, without the texts.
func (r *running) planned(n int) string {
	r.replies(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.sent[n-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", i.Report)
	for _, e := range i.Edits {
		fmt.Fprintln(&b, e.Op, e.Stage, e.Why, e.Origin, e.At, e.End, e.Part, e.Saved, e.Epoch)
	}
	return b.String()
}

// TestAPlanDoesNotDependOnTheStore: with every summary, with none, and with every
// other one, the same edits are made at the same epochs, and the same is charged.
func TestAPlanDoesNotDependOnTheStore(t *testing.T) {
	var tries atomic.Int32
	replies := []http.HandlerFunc{
		tells(answered(told, "stop")),
		tells(answered("no", "stop")), // no summary
		func(w http.ResponseWriter, r *http.Request) {
			text := told
			if tries.Add(1)/2%2 == 0 { // it is asked twice for what it does not tell
				text = "no"
			}
			tells(answered(text, "stop"))(w, r)
		},
	}
	var all []*running
	for _, reply := range replies {
		all = append(all, summarized(t, newUpstream(t, nil), newUpstream(t, reply), func(o *Options) { o.Default.Limits.Budget = 8000 }))
	}
	kinds := map[string]int{}
	spans := 0
	for n := 1; n <= 100; n++ {
		for i, r := range all {
			r.chat(history(n))
			r.quietly()
			if got, want := r.planned(n), all[0].planned(n); got != want {
				t.Fatalf("turn %d, store %d: planned\n%s\nwant\n%s", n, i, got, want)
			}
			s := r.replies(n)[n-1].Rewrite.Summary
			if s == nil {
				continue
			}
			spans = max(spans, s.Spans)
			switch {
			case s.Digests == 0:
				kinds[fmt.Sprint(i, " full")]++
			case s.Digests == s.Spans:
				kinds[fmt.Sprint(i, " empty")]++
			default:
				kinds[fmt.Sprint(i, " some")]++
			}
		}
	}
	if kinds["0 full"] < 50 || kinds["1 empty"] < 50 || kinds["2 some"] < 15 || spans < 3 {
		t.Errorf("%v, %d spans at most: this tests nothing", kinds, spans)
	}
}
