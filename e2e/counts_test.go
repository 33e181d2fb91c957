package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// TestThreeAnswersShowHowAnUpstreamCounts: whatever the tokenizer of a model
// that nobody knows, tools included, its prompts are counted right after three
// answers.
func TestThreeAnswersShowHowAnUpstreamCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of requests through another process, in which the race detector sees nothing")
	}
	chats := playable(t, 9, 24)
	if len(chats) < 6 {
		t.Fatalf("only %d conversations", len(chats))
	}
	t.Parallel()
	for _, b := range billings(t) {
		t.Run(b.name, func(t *testing.T) {
			x := newBilled(t, b)
			var off []float64
			low, high := 0.0, 0.0
			for i, requests := range chats {
				answers := 0
				for _, body := range requests {
					counted, bill := x.send(body, fmt.Sprint("client ", i))
					if bill < 500 {
						continue
					}
					if answers++; answers <= 3 {
						continue
					}
					e := float64(counted)/float64(bill) - 1
					off, low, high = append(off, math.Abs(e)), min(low, e), max(high, e)
				}
			}
			slices.Sort(off)
			median, p95 := off[len(off)/2], off[len(off)*95/100]
			t.Logf("%d prompts of %d conversations: median %.1f %%, 95th percentile %.1f %%, from %.1f to %+.1f %%", len(off), len(chats), 100*median, 100*p95, 100*low, 100*high)
			if median > 0.03 || p95 > 0.08 || low < -0.05 {
				t.Error("more than a median of 3 %, 8 % for 95 of 100, or 5 % below")
			}
		})
	}
}

// numberLines, prose and records are texts of other kinds than code.
func numberLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

func prose(n int) string {
	return strings.Repeat("The committee met on the first day of spring and, after a long discussion, agreed that nothing should change. ", n)
}

func records(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"usr_%08x","active":%t,"balance":%d.%02d,"tags":["a","b"],"created_at":"2026-11-%02dT10:%02d:00Z"},`, i*2654435761%(1<<32), i%2 == 0, i*37%1000, i%100, i%28+1, i%60)
	}
	return b.String()
}

// TestAnotherMixOfTextsIsStillCounted: what three answers of one kind showed
// holds within 15 % for texts of another kind, for 95 of 100. Counts belong to
// the tools that they were learnt with, so a client with other tools is counted as an
// unknown one: an upstream that counts more is followed after one answer, one that
// counts less after three.
func TestAnotherMixOfTextsIsStillCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of requests through another process, in which the race detector sees nothing")
	}
	compacttest.LargerSet(t) // of few conversations one alone is a twentieth
	chats := playable(t, 4, 24)
	tools := toolsOfAgents(t)
	t.Parallel()
	request := func(text string, tools []byte) []byte {
		b := fmt.Appendf(nil, `{"model":"a-model-that-nobody-knows","messages":[{"role":"system","content":"You are a coding agent."},{"role":"user","content":"Look."},`+
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"run","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":%s}]`, jsonText(text))
		if len(tools) > 0 {
			b = append(append(b, `,"tools":`...), tools...)
		}
		return append(b, '}')
	}
	kinds := map[string]func(grown int) string{
		"numbers": func(grown int) string { return numberLines(1500 + 50*grown) },
		"prose":   func(grown int) string { return prose(100 + 3*grown) },
		"records": func(grown int) string { return records(100 + 3*grown) },
	}
	const few = 3 // answers, after which a count is right
	for _, b := range billings(t) {
		t.Run(b.name, func(t *testing.T) {
			x := newBilled(t, b)
			var off []float64
			worst := map[string]float64{}
			play := func(requests [][]byte, client string, text func(grown int) string, other bool) {
				var own asked
				if err := json.Unmarshal(requests[0], &own); err != nil {
					t.Fatal(err)
				}
				answers := 0
				for _, body := range requests {
					if _, bill := x.send(body, client); bill >= 500 {
						answers++
					}
					if answers == few {
						break
					}
				}
				with := own.Tools
				if other {
					if with = nil; len(own.Tools) == 0 {
						with = tools[0]
					}
				}
				for sent := range few + 1 {
					counted, bill := x.send(request(text(sent), with), client)
					e := float64(counted)/float64(bill) - 1
					if sent == 0 && !other {
						off = append(off, math.Abs(e))
					}
					at := fmt.Sprintf("%d, other tools %t", sent, other)
					if math.Abs(e) > math.Abs(worst[at]) {
						worst[at] = e
					}
					low := e < -0.05 && bill-counted > 256 // the reserve has room for so many
					high := e > 0.05
					if sent > 0 && low || high && (sent == few || sent > 0 && !other) {
						t.Errorf("%s, other tools %t: counted %d of %d after %d answers", client, other, counted, bill, sent)
					}
				}
			}
			for i, requests := range chats {
				for kind, text := range kinds {
					play(requests, fmt.Sprint(kind, " ", i), text, false)
					play(requests, fmt.Sprint(kind, " with other tools ", i), text, true)
				}
			}
			slices.Sort(off)
			t.Logf("%d changes: median %.1f %%, 95th percentile %.1f %%, worst %v", len(off), 100*off[len(off)/2], 100*off[len(off)*95/100], worst)
			if off[len(off)/2] > 0.03 || off[len(off)*95/100] > 0.15 {
				t.Error("more than a median of 3 %, or 15 % for 95 of 100")
			}
		})
	}
}

func jsonText(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// TestTellingTheWindowIsNoWorseThanTellingNothing: an upstream that counts bytes
// and refuses what is above its window, a real agent's requests with large tools.
// Told, no request is refused, and what arrives is as large and as whole as
// untold.
func TestTellingTheWindowIsNoWorseThanTellingNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of requests through another process, in which the race detector sees nothing")
	}
	const window = 24_000
	chats := playable(t, 9, 60)
	tools := toolsOfAgents(t)[0]
	t.Parallel()
	b := billings(t)[0]
	type result struct{ sent, largest, whole, refused int }
	play := func(config string) (r result) {
		var file []string
		if config != "" {
			path := filepath.Join(t.TempDir(), "told.yaml")
			if err := os.WriteFile(path, []byte(config), 0o666); err != nil {
				t.Fatal(err)
			}
			file = []string{"--config", path}
		}
		x := newBilled(t, b, file...)
		x.window, x.budget = window, ""
		for i, requests := range chats {
			x.greet(fmt.Sprint("client ", i))
			for _, body := range requests {
				var q map[string]json.RawMessage
				if err := json.Unmarshal(body, &q); err != nil {
					t.Fatal(err)
				}
				q["tools"] = tools
				body, _ = json.Marshal(q)
				x.refused = 0
				_, bill := x.send(body, fmt.Sprint("client ", i))
				var came, went asked
				_, _ = json.Unmarshal(x.body, &came), json.Unmarshal(body, &went)
				if bytes.Equal(packed(t, came.Messages[len(came.Messages)-1]), packed(t, went.Messages[len(went.Messages)-1])) {
					r.whole++
				}
				r.sent, r.largest, r.refused = r.sent+1, max(r.largest, bill), r.refused+x.refused
			}
		}
		return r
	}
	untold := play("")
	told := play(fmt.Sprintf("models: [{match: \"*\", window: %d, reserve: 1000}]\n", window))
	t.Logf("untold %+v, told %+v", untold, told)
	if told.refused > untold.refused || told.whole < untold.whole || told.largest*100 < window*75 {
		t.Error("telling the window made it worse")
	}
}
