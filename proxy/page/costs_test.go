package page

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/proxy"
)

// What a plan knows of costs is what counting anew would find.
func TestCostsAreThoseOfThePlan(t *testing.T) {
	upstream, _ := url.Parse("http://upstream.example/v1")
	for name, own := range map[string]compact.Counter{"the model's counter": nil, "a counter of the policy's own": compact.BytesPerToken(2)} {
		t.Run(name, func(t *testing.T) {
			seen := 0
			look := func(i proxy.PlanInfo) {
				if before, _ := i.Costs(); (before == nil) != (own != nil) {
					t.Errorf("%d costs are known", len(before))
				}
				anew := i.Plan
				by := detailsOf(&i)
				got := *by
				i.Plan = &compact.Plan{Edits: anew.Edits, Epochs: anew.Epochs, Slot: anew.Slot} // knows nothing
				if want := detailsOf(&i); !reflect.DeepEqual(&got, want) {
					t.Errorf("got  %+v\nwant %+v", got, *want)
				}
				for _, m := range got.Messages {
					if m.State == changed && (got.Slot == nil || int(m.Origin) != got.Slot.At) {
						seen++
					}
				}
			}
			for _, ladder := range [][]compact.Stage{stage.Default(), stage.BareElision(256)} { // with a record, and without
				p, err := proxy.New(proxy.Options{
					Default: proxy.Route{
						Upstream: upstream, Policy: &compact.Policy{Name: "adaptive", Ladder: ladder, Land: 0.4, Counter: own},
						Counter: compact.BytesPerToken(3), Limits: compact.Limits{Budget: 3000}, Configured: true,
					},
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
