package admission

import (
	"testing"
	"time"

	"laconic/proxy/apierror"
)

func TestQuotas(t *testing.T) {
	var q Quotas
	now := time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	most := Quota{RequestsPerMinute: 2, TokensPerMinute: 1000, TokensPerDay: 5000}
	take := func(client, code string, wait time.Duration) {
		t.Helper()
		switch no := q.Take(client, most, now); {
		case no == nil && code != "":
			t.Errorf("%s may come in, want %s", client, code)
		case no != nil && (no.Code != code || no.Status != 429 || no.RetryAfter.Round(time.Second) != wait):
			t.Errorf("%s: %v after %v, want %q after %v", client, no, no.RetryAfter, code, wait)
		}
	}
	take("a", "", 0)
	take("a", "", 0)
	take("a", apierror.CodeRate, 30*time.Second)
	take("b", "", 0) // each counts by itself
	now = now.Add(time.Minute)
	take("a", "", 0)
	q.Spend("a", most, 3000, now) // 2,000 more than there are
	take("a", apierror.CodeRate, 2*time.Minute)
	now = now.Add(3 * time.Minute)
	take("a", "", 0)
	q.Spend("a", most, 2000, now)
	take("a", apierror.CodeBudget, 56*time.Minute)
	now = now.Add(56 * time.Minute) // the next day
	take("a", "", 0)

	// Limits that were changed hold at once; what the day has cost stays.
	q.Spend("a", most, 4000, now)
	most = Quota{RequestsPerMinute: 1, TokensPerDay: 4000}
	take("a", apierror.CodeBudget, 24*time.Hour)
	most.TokensPerDay = 0
	take("a", "", 0)
	take("a", apierror.CodeRate, time.Minute)
	most = Quota{}
	for range 100 {
		take("a", "", 0)
	}
}
