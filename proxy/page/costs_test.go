package page

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/proxy"
	"laconic/view"
)

// answers is an upstream that answers at once.
type answers struct{}

func (answers) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	const text = `{"choices":[{"message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(text)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)),
	}, nil
}

// agentBody is a request of an agent that read a file in each round.
func agentBody(rounds int) string {
	msgs := []string{`{"role":"user","content":"mend the test"}`}
	for n := range rounds {
		msgs = append(msgs, fmt.Sprintf(`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.go\"}"}}]}`, n, n),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, n, strings.Repeat(fmt.Sprintf("line %d of a file\n", n), 90)))
	}
	return `{"model":"gpt-4o","messages":[` + strings.Join(msgs, ",") + `]}`
}

// addsUp checks that the messages, the record and the edits of a request tell of the
// same tokens, and that the record is as large as its text.
func addsUp(t *testing.T, i *proxy.PlanInfo, d *view.Request) {
	t.Helper()
	came, stay, saved := 0, 0, 0
	for _, m := range d.Messages {
		came += int(m.Before)
	}
	for _, f := range d.Fates {
		stay += int(f.After)
		for n := f.From; f.State == view.Kept && n < f.From+f.Count; n++ {
			stay += int(d.Messages[n].Before)
		}
	}
	for _, e := range d.Edits {
		saved += e.Saved
	}
	if i.Before != nil && came-stay != saved {
		t.Errorf("messages cost %d less, edits saved %d", came-stay, saved)
	}
	if d.Slot == nil {
		return
	}
	text := ""
	for n, one := range i.Plan.Slot.Texts(i.Texts) {
		text += one
		is := d.Slot.Spans[n]
		if want := compact.CostText(i.Counter, one); is.Sent != want || is.Sent == 0 {
			t.Errorf("span %d: %d tokens, want %d", n, is.Sent, want)
		}
		var said int
		head := strings.TrimLeft(one, "\n")
		if _, err := fmt.Sscanf(head, "[Record of %d ", &said); err != nil || said != is.Messages {
			t.Errorf("span %d says %d messages, the page %d: %.80q", n, said, is.Messages, head)
		}
	}
	sent := i.Sent[d.Slot.In]
	if last := sent.Parts[len(sent.Parts)-1].Text.String(); last != text {
		t.Errorf("the record is\n%q, was sent as\n%q", text, last)
	}
}

// Costs of a plan are those that counting anew would find.
func TestCostsAreThoseOfThePlan(t *testing.T) {
	upstream, _ := url.Parse("http://upstream.example/v1")
	for name, own := range map[string]compact.Counter{"the model's counter": nil, "a counter of the policy's own": compact.BytesPerToken(2)} {
		t.Run(name, func(t *testing.T) {
			seen := 0
			look := func(i proxy.PlanInfo) {
				if (i.Before == nil) != (own != nil) {
					t.Errorf("%d costs are known", len(i.Before))
				}
				got, anew := view.Of(&i.Planned), i.Planned
				anew.Before, anew.After = nil, nil
				if want := view.Of(&anew); !reflect.DeepEqual(got.Messages, want.Messages) || !reflect.DeepEqual(got.Fates, want.Fates) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
				addsUp(t, &i, got)
				for _, f := range got.Fates {
					if f.State == view.Changed && (got.Slot == nil || int(f.From) != got.Slot.At) {
						seen++
					}
				}
			}
			for _, ladder := range [][]compact.Stage{stage.Default(), stage.BareElision(256)} { // with a record, and without
				p, err := proxy.New(proxy.Options{
					Default: proxy.Route{
						Upstream: upstream, Policy: &compact.Policy{Name: "adaptive", Ladder: ladder, Land: 0.4, Counter: own},
						Counter: compact.BytesPerToken(1), Limits: compact.Limits{Budget: 9000}, Configured: true, // one token a byte: what costs add up to is not rounded
					},
					Limits:    proxy.Limits{Body: 64 << 20, Memory: 512 << 20, ResponseHeader: time.Minute, StreamIdle: time.Minute},
					Transport: answers{}, Listener: proxy.Listener{Planned: look, Failed: func(i proxy.FaultInfo) { t.Error(i.What) }},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(p.Close)
				for _, rounds := range []int{2, 4, 8, 16, 40} {
					r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(agentBody(rounds)))
					r.Host = "127.0.0.1"
					r.Header.Set("Content-Type", "application/json")
					p.ServeHTTP(httptest.NewRecorder(), r)
				}
			}
			if seen == 0 {
				t.Error("no message was changed but the one that the record follows")
			}
		})
	}
}
