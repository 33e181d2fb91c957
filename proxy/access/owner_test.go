package access

import (
	"net/http"
	"testing"
)

// TestAllRequestsWithAKeyHaveOneOwner, whatever else they carry.
func TestAllRequestsWithAKeyHaveOneOwner(t *testing.T) {
	f := func(want string, keys []Secret, pairs ...string) {
		t.Helper()
		h := http.Header{"Accept": {"*/*"}}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		if got := HashKeys(keys...).Owner(h); got != want {
			t.Errorf("%q: %q, want %q", pairs, got, want)
		}
	}
	f("k", nil, "Authorization", "Bearer k")
	f("k", nil, "Authorization", "bearer  k ", "Cookie", "a=b", "Openai-Organization", "o")
	f("k", nil, "Api-Key", "k", "Openai-Project", "p")
	f("k", nil, "X-Api-Key", "k")
	f("first", nil, "X-Api-Key", "k", "Authorization", "Bearer first")
	f("Basic abc", nil, "Authorization", "Basic abc")
	f("a=b", nil, "Cookie", "a=b", "X-Token", "t")
	f("", nil)
	keys := []Secret{"ours", "k2"}
	f("ours", keys, "Authorization", "Bearer theirs", "X-Api-Key", "ours")
	f("k2", keys, "Authorization", "Bearer k2")
}
