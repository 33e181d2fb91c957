package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"go.uber.org/zap"

	"laconic/compact"
)

// manyWords is a conversation that nothing can shrink.
var manyWords = `{"model":"gpt-4o","messages":[{"role":"system","content":"` + strings.Repeat("rule ", 1500) + `"},{"role":"user","content":"hi"}]` + `%s}`

func TestAMalformedOverrideIsRefusedByName(t *testing.T) {
	u, p := plain(t)
	f := func(name string, values ...string) {
		t.Helper()
		var headers []string
		for _, v := range values {
			headers = append(headers, name, v)
		}
		res := p.chat(chatBody, headers...)
		if res.StatusCode != 400 {
			t.Errorf("%s %q: status %d", name, values, res.StatusCode)
			return
		}
		if e := res.errorOf(t); *e.Code != "invalid_header" || *e.Param != name || !strings.Contains(e.Message, name) {
			t.Errorf("%s", res.body)
		}
	}
	f("x-laconic-mode", "maybe")
	f("x-laconic-mode", "")
	f("x-laconic-mode", "on", "off")
	f("x-laconic-policy", "unknown")
	f("x-laconic-policy", "a", "b")
	f("x-laconic-budget", "0")
	f("x-laconic-budget", "-1")
	f("x-laconic-budget", "1e3")
	f("x-laconic-budget", "1000000001")
	f("x-laconic-budget", "99999999999999999999")
	f("x-laconic-budget", "1", "2")
	f("x-laconic-pin", "a")
	f("x-laconic-pin", "1,,2")
	f("x-laconic-pin", "-1")
	f("x-laconic-pin", strings.TrimSuffix(strings.Repeat("1,", 4097), ","))
	f("x-laconic-tags", strings.Repeat("x", 257))
	f("x-laconic-tags", "a\tb")
	f("x-laconic-tags", "\xff\xfe")
	f("x-laconic-tags", "a", "b")
	u.saw(t, 0)
	p.chat(chatBody, "x-laconic-pin", strings.TrimSuffix(strings.Repeat("1,", 4096), ",")).want(t, 200, "4,096 pins")
}

// TestAPinIsAnIndexInTheClientsList, whatever messages its elements become: the results
// of that round stay, and of no other old one.
func TestAPinIsAnIndexInTheClientsList(t *testing.T) {
	u, p := plain(t)
	f := func(path, list, body string, each int, pins ...int) {
		elements := gjson.Get(body, list).Array()
		for _, pin := range pins {
			res := p.do("POST", path, strings.NewReader(body), "x-laconic-pin", fmt.Sprint(len(elements), ",", pin))
			if got := res.Header.Get("x-laconic-ignored"); got != "x-laconic-pin;unmatched=1" {
				t.Errorf("%s, pin %d: ignored %q", path, pin, got)
			}
			for r := range 13 {
				if result := elements[len(elements)-1-each*(19-r)]; strings.Contains(string(u.newest()), result.Raw) != (r == 4) {
					t.Errorf("%s, pin %d: round %d, want 4 alone", path, pin, r)
				}
			}
		}
	}
	f("/v1/chat/completions", "messages", agentBody(20, 100), 2, 10, 11)
	f("/v1/messages", "messages", strings.ReplaceAll(blocksBody(20, 100), `word "}`, `word "},{"type":"text","text":"on"}`), 2, 9, 10)
	f("/v1/responses", "input", itemsBody(20, 100, ""), 3, 13, 14, 15)
}

func TestOddModelNamesAreOnlyNames(t *testing.T) {
	var asked []string
	u, p := plain(t, func(o *Options) {
		o.RouteFor = func(model string) *Route { asked = append(asked, model); return nil }
	})
	names := []string{"gpt-4.1", "*", "a|b", "@this", "#", "../x", strings.Repeat("m", 10_000), "line\r\nx-injected: 1\x00"}
	for _, n := range names {
		quoted, _ := json.Marshal(n)
		if res := p.chat(`{"model":` + string(quoted) + `,"messages":[{"role":"user","content":"x"}]}`); res.StatusCode != 200 || res.Header.Get("X-Injected") != "" {
			t.Errorf("%q: %d %v", n, res.StatusCode, res.Header)
		}
	}
	p.chat(`{"model":"","messages":[{"role":"user","content":"x"}]}`)
	p.chat(`{"model":7,"messages":[{"role":"user","content":"x"}]}`)
	if !slices.Equal(asked, names) {
		t.Errorf("asked for %.40q, want %.40q", asked, names)
	}
	for _, g := range u.requests() {
		if g.Header.Get("X-Injected") != "" {
			t.Error("a header was injected")
		}
	}
}

// unwritable edits what no stage may: the encoder cannot write another role.
type unwritable struct{}

func (unwritable) Name() string { return "unwritable" }

func (unwritable) Shrink(d *compact.Draft) {
	for ref := range d.Results() {
		d.Rewrite(ref, "(gone)", "old tool result")
		d.Message(ref.Message).Role = compact.User
	}
}

// TestAnEditThatCannotBeWrittenIsReported: the client's own bytes go out, and
// the operator hears why.
func TestAnEditThatCannotBeWrittenIsReported(t *testing.T) {
	var log logged
	u, p := plain(t, func(o *Options) {
		o.Default.Policy.Ladder = []compact.Stage{unwritable{}}
		o.Listener = LogTo(log.at(zap.InfoLevel))
	})
	body := agentBody(20, 100)
	if res := p.chat(body); res.StatusCode != 200 || string(u.only(t).Body) != body {
		t.Errorf("%d, %d bytes arrived of %d", res.StatusCode, len(u.only(t).Body), len(body))
	}
	if r := p.replies(1)[0]; r.Passed != "fault" {
		t.Errorf("%+v", r)
	}
	faults := p.faults()
	if len(faults) != 1 || faults[0].Where != "encode" || faults[0].ID == "" || !strings.Contains(faults[0].What, "role and reasoning stay") {
		t.Errorf("%+v", faults)
	}
	if !strings.Contains(log.text(), `"msg":"fault"`) {
		t.Errorf("not logged: %s", log.text())
	}
}

// A plan ends at its next epoch where the client has left. That the conversation does
// not fit by then is no refusal.
func TestAClientThatLeavesWhileItIsPlannedIsNotRefused(t *testing.T) {
	p := inFrontOf(t, newUpstream(t, nil), func(o *Options) { o.Default.Policy.Reject = true })
	gone, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(gone, "POST", "/v1/chat/completions", strings.NewReader(agentBody(20, 100)))
	r.Host = "localhost"
	p.ServeHTTP(httptest.NewRecorder(), r)
	if i := p.replies(1)[0]; i.Status != StatusClientLeft || i.Rewrite != nil {
		t.Errorf("%d %s %+v", i.Status, i.Code, i.Rewrite)
	}
}
