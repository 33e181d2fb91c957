package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
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
