package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestASecretDoesNotShow(t *testing.T) {
	s := Secret("canary")
	type holder struct {
		Key  Secret
		Keys []Secret
	}
	h := holder{s, []Secret{s}}
	var buf bytes.Buffer
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("x", "key", s, "holder", h)
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&buf), zap.DebugLevel)
	zap.New(core).Info("x", zap.Any("key", s), zap.Stringer("key2", s), zap.Reflect("holder", h), zap.Any("keys", h.Keys))
	asJSON, err := json.Marshal(map[string]any{"a": h, "b": s, "c": &s})
	if err != nil {
		t.Fatal(err)
	}
	all := buf.String() + string(asJSON)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%U", "%10s"} {
		all += fmt.Sprintf(verb, s) + fmt.Sprintf(verb, h) + fmt.Sprintf(verb, &h) + fmt.Sprintf(verb, []any{s})
	}
	if strings.Contains(all, "canary") || strings.Contains(all, "63616e617279") || !strings.Contains(all, "***") {
		t.Error(all)
	}
	if string(s) != "canary" || Secret("").String() != "" {
		t.Error("the value is lost")
	}
}

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

func TestEveryOriginCanBeAllowedButNoHost(t *testing.T) {
	g := NewGuard(true, []string{"*"}, "")
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "localhost"
	r.Header.Set("Origin", "https://evil.example")
	if no := g.Check(r); no != nil {
		t.Error(no)
	}
	r.Host = "evil.example"
	if no := g.Check(r); no == nil {
		t.Error("a foreign Host is served")
	}
}
