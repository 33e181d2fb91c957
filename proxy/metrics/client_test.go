package metrics

import (
	"testing"
	"time"

	"laconic/proxy"
	"laconic/proxy/apierror"
	"laconic/proxy/wire"
)

func TestClientsAndTheServiceAreCounted(t *testing.T) {
	m := made(0)
	replied := m.Listener().Replied
	for _, i := range []proxy.ReplyInfo{
		{Client: "ALICE", Status: 200, Usage: &wire.Usage{Prompt: 90, Completion: 20}},
		{Client: "ALICE", Status: 429, Own: true, Code: apierror.CodeBudget},
		{Client: "BOB", Status: 429}, // of the upstream
		{Status: 401, Own: true, Code: "invalid_api_key"},
		{Client: "BOB", Status: 200, Own: true, Endpoint: "/compact", Outcome: proxy.Passed, Duration: time.Second},
		{Client: "BOB", Status: 200, Own: true, Endpoint: "/health"},
	} {
		replied(i)
	}
	got := scraped(t, m)
	for name, want := range map[string]float64{
		`laconic_client_requests_total{client="ALICE",result="ok"}`:           1,
		`laconic_client_requests_total{client="ALICE",result="limited"}`:      1,
		`laconic_client_requests_total{client="BOB",result="error"}`:          1,
		`laconic_client_requests_total{client="BOB",result="ok"}`:             2,
		`laconic_client_tokens_total{client="ALICE",of="prompt"}`:             90,
		`laconic_client_tokens_total{client="ALICE",of="completion"}`:         20,
		`laconic_service_seconds_count{endpoint="/compact",outcome="passed"}`: 1,
		`laconic_service_seconds_sum{endpoint="/compact",outcome="passed"}`:   1,
		`laconic_errors_total{code="insufficient_quota"}`:                     1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if _, is := got[`laconic_service_seconds_count{endpoint="/health",outcome="(none)"}`]; is {
		t.Error("/health is a call of the service")
	}
}
