package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestOneClientsContentIsNotAnothers: what is in one gap may make any model
// refuse, or give no summary. Only if several gaps in a row do so the model is
// taken to be the reason.
func TestOneClientsContentIsNotAnothers(t *testing.T) {
	f := func(want string, bad http.HandlerFunc) {
		t.Helper()
		var model *upstream
		model = newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			if all := model.requests(); strings.Contains(string(all[len(all)-1].Body), "line of f1.") {
				tells(answered(told, "stop"))(w, r)
				return
			}
			bad(w, r)
		})
		r := summarized(t, newUpstream(t, nil), model, waiting)
		n := 0
		ask := func(word, key, reason string) {
			t.Helper()
			n++
			r.chat(strings.ReplaceAll(history(long), "line of", word), "Authorization", key)
			if got := r.lastSummary(n); got.Reason != reason {
				t.Errorf("%s: %q, %s: %+v", want, word, key, got)
			}
		}
		ask("evil of", "a", want)
		ask("evil of", "a", "cooling") // this gap
		ask("line of", "b", "")
		for i := range 5 {
			ask(fmt.Sprintf("evil %02d", i), "a", want)
		}
		ask("evil of", "b", "cooling")
		ask("line of", "c", "cooling")
	}
	f("short", tells(answered("no", "stop")))
	f("finish", tells(answered(told, "content_filter")))
	f("status_400", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusBadRequest) })
	f("status_413", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusRequestEntityTooLarge) })
}
