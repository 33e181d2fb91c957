package store

import (
	"strings"
	"testing"

	"laconic/e2e/rig"
	"laconic/store/storetest"
)

// TestAStoreThatIsAwayIsSeen, and that it is back, also while nobody asks it for
// anything: words of others are listened for.
func TestAStoreThatIsAwayIsSeen(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	var lines notices
	s := openTestRedis(t, server.URL(), lines.add)
	v := vaultOn(t, s, testSecret)
	if got := v.State(); got.Fault.Says != "" || got.Silent {
		t.Errorf("before it was asked: %+v", got)
	}
	listening(t, s)
	is := func(fault string, silent bool) {
		t.Helper()
		rig.Eventually(t, "its fault is: "+fault, func() bool {
			now := v.State()
			return now.Fault.Says == fault && now.Silent == silent
		})
	}
	rig.Eventually(t, "it is heard", func() bool { return s.client.PoolStats().PubSubStats.Active == 1 })
	server.Stop()
	is("the store does not answer: no connection", true)
	_, _ = s.Get(t.Context(), keyOf(1))
	server.Start(t)
	is("", false)
	if got := lines.all(); !strings.HasPrefix(got, "the store does not answer: no connection\nthe store answers again, after ") || strings.Count(got, "\n") != 1 {
		t.Errorf("told %q", got)
	}
}
