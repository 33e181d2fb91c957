package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"unicode"

	"laconic/e2e/rig"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// listOf is the text of the messages of a body without the bracket that closes
// the list: what a longer list that begins the same begins with.
func listOf(body []byte) []byte {
	raw := gjson.GetBytes(body, "messages").Raw
	return []byte(strings.TrimRightFunc(strings.TrimSuffix(raw, "]"), unicode.IsSpace))
}

// continues says what is wrong between the lists of two requests of one
// conversation as the upstream saw them: unless an epoch began, the first is
// the beginning of the second, to the byte. Then the provider's prompt cache
// has it.
func continues(before, now []byte, epochsBefore, epochsNow int) error {
	switch {
	case epochsNow > epochsBefore:
		return nil
	case epochsNow < epochsBefore:
		return fmt.Errorf("there were %d epochs, now there are %d", epochsBefore, epochsNow)
	case bytes.HasPrefix(now, before):
		return nil
	}
	at := 0
	for at < len(before) && at < len(now) && before[at] == now[at] {
		at++
	}
	from := max(0, at-60)
	return fmt.Errorf("what was sent is not the beginning of what is sent now, and no epoch began:\nwas …%s\nis  …%s",
		clipped(before[from:]), clipped(now[from:]))
}

func clipped(b []byte) []byte { return b[:min(len(b), 160)] }

// history is a conversation of an agent that grows from turn to turn, each
// message as a client writes it down once and for all.
type history struct {
	messages []string
	gap      string // what stands between two messages
	size     int    // of a tool result, in bytes
	made     int
}

func (h *history) add(m map[string]any) {
	b, err := json.Marshal(m)
	if err != nil {
		panic("BUG: a message is always JSON: " + err.Error())
	}
	h.messages = append(h.messages, string(b))
}

func (h *history) body() []byte {
	return []byte(`{"model":"gpt-4o","stream":true,"messages":[` + strings.Join(h.messages, h.gap) + `],"temperature":0}`)
}

// grow adds what happens between two requests: the agent calls one or two
// tools and gets their results, and at every ninth turn it answers, and the user
// wants something else.
func (h *history) grow() {
	h.made++
	if h.made%9 == 0 {
		h.add(map[string]any{"role": "assistant", "content": fmt.Sprintf("Part %d is done; the tests are green again.", h.made/9)})
		h.add(map[string]any{"role": "user", "content": fmt.Sprintf("Good. Now part %d: the same for the next package.", h.made/9+1)})
		return
	}
	var calls []any
	for n := range 1 + h.made%2 {
		calls = append(calls, map[string]any{
			"id": fmt.Sprintf("call_%d_%d", h.made, n), "type": "function",
			"function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path": "pkg%d/file%d.go"}`, h.made, n)},
		})
	}
	h.add(map[string]any{"role": "assistant", "content": nil, "tool_calls": calls})
	for n := range calls {
		line := fmt.Sprintf("line of pkg%d/file%d.go that the agent reads\n", h.made, n)
		h.add(map[string]any{
			"role": "tool", "tool_call_id": fmt.Sprintf("call_%d_%d", h.made, n),
			"content": strings.Repeat(line, 1+h.size/len(line)),
		})
	}
}

// turns: turns [FLAG]… N sends a conversation that grows from request to request
// N times, the whole of it each time, as clients do, and prints what became of
// it; last.asked is the last body, last.sent its messages as the upstream got
// them. Of every request it checks that it is answered, that it reports to be
// within its budget, and that the messages which the upstream got begin with
// those of the request before, unless an epoch began.
//
//	-results N   bytes of a tool result (2000)
//	-gap TEXT    what the client writes between two messages (",")
//	-H 'K: V'    a header of every request; may be repeated
func turns(ts *testscript.TestScript, args []string) {
	h := &history{gap: ",", size: 2000}
	var headers several
	rest := flags(ts, args, 1, 1, func(f *flag.FlagSet) {
		f.IntVar(&h.size, "results", h.size, "")
		f.StringVar(&h.gap, "gap", h.gap, "")
		f.Var(&headers, "H", "")
	})
	n, err := strconv.Atoi(rest[0])
	ts.Check(err)
	h.add(map[string]any{"role": "system", "content": "You are a coding agent. You work on one package after the other."})
	h.add(map[string]any{"role": "user", "content": "Part 1: make the errors of every package wrap their cause."})

	s := storyOf(ts)
	w := walk{s: s, u: s.upstreams["UPSTREAM"], outcomes: map[string]int{}}
	if w.u == nil || s.proxy == nil {
		ts.Fatalf("turns needs an upstream and a proxy")
	}
	for range n {
		if err := w.send(h.body(), headers); err != nil {
			ts.Fatalf("request %d: %v", w.requests+1, err)
		}
		h.grow()
	}
	fmt.Fprintf(ts.Stdout(), "%d requests, %d untouched, %d compacted, %d over\n%d epochs, %d requests that continued the one before\nlargest prompt %d of %d tokens\n",
		w.requests, w.outcomes["untouched"], w.outcomes["compacted"], w.outcomes["over"], w.epochs, w.continued, w.largest, w.budget)
	ts.Check(os.WriteFile(ts.MkAbs("last.asked"), w.asked, 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("last.sent"), w.list, 0o666))
}

// walk sends one conversation request by request.
type walk struct {
	s *story
	u *upstream

	requests, continued, largest int
	outcomes                     map[string]int

	// Of the last request:
	asked                 []byte // the body, as the client sent it
	list                  []byte // its messages, as the upstream got them
	after, budget, epochs int
}

func (w *walk) send(body []byte, headers []string) error {
	r, err := http.NewRequest(http.MethodPost, w.s.proxy.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	arrived := w.u.total()
	status, h, answer, err := fetch(w.s.client, r)
	if err != nil {
		return err
	}
	if status != "200 OK" {
		return fmt.Errorf("%s: %s", status, clipped(answer))
	}
	a, ok := w.u.nth(w.u.total()) // the second, where the first was refused
	if !ok || w.u.total() == arrived {
		return errors.New("it did not reach the upstream")
	}
	was, outcome := w.epochs, h.Get("x-laconic-outcome")
	w.after, _ = strconv.Atoi(h.Get("x-laconic-tokens-after"))
	w.budget, _ = strconv.Atoi(h.Get("x-laconic-budget"))
	if w.epochs, err = epochsOf(w.s.proxy, h.Get("x-laconic-request-id")); err != nil {
		return err
	}
	if w.after > w.budget && outcome != "over" {
		return fmt.Errorf("%d tokens were sent, with a budget of %d, as %q", w.after, w.budget, outcome)
	}
	list := listOf(a.body)
	if w.requests > 0 {
		if err := continues(w.list, list, was, w.epochs); err != nil {
			return err
		}
		if w.epochs == was {
			w.continued++
		}
	}
	w.requests++
	w.outcomes[outcome]++
	w.largest = max(w.largest, w.after)
	w.asked, w.list = body, list
	return nil
}

// epochsOf returns the epochs that the log tells of a request. The line is written when
// the answer is over: the client may know that a little earlier.
func epochsOf(p *rig.Laconic, id string) (n int, err error) {
	if !rig.Soon(func() (ok bool) {
		for line := range strings.Lines(p.Output()) {
			whole := strings.HasSuffix(line, "\n") // the last one may be half written
			if whole && gjson.Get(line, "msg").Str == "compaction" && gjson.Get(line, "request_id").Str == id {
				n, ok = int(gjson.Get(line, "epochs").Int()), true
			}
		}
		return ok
	}) {
		return 0, errors.New("the log has no line for it")
	}
	return n, nil
}
