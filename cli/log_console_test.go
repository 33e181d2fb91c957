package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"laconic/config"

	"go.uber.org/zap"
)

// logLines is what a log writes in a format at a level.
func logLines(t *testing.T, format, level string, use func(*runLog)) string {
	t.Helper()
	var out lockedText
	log, err := newLog(config.Log{Level: level, Format: format}, &out)
	if err != nil {
		t.Fatal(err)
	}
	use(log)
	log.Close()
	return out.String()
}

func TestALineForAPersonBeginsWithWhatMatters(t *testing.T) {
	say := func(log *runLog) {
		log.Info("compaction", zap.String("request_id", "abc"), zap.Int("tokens_before", 9), zap.String("model", "a b\u202e\x1b[31m"),
			zap.Int("status", 200), zap.String("outcome", "compacted"), zap.Int("results_dropped", 1))
	}
	const short = ` INFO compaction outcome=compacted model="a b\u202e\x1b[31m" tokens_before=9 status=200`
	got := strings.ReplaceAll(logLines(t, "console", "info", say), "\t", " ")
	if !strings.HasSuffix(got, short+" results_dropped=1\n") {
		t.Errorf("%q", got)
	}
	got = strings.ReplaceAll(logLines(t, "console", "debug", say), "\t", " ")
	if !strings.HasSuffix(got, short+" request_id=abc results_dropped=1\n") {
		t.Errorf("%q", got)
	}
}

// Programs read every line of the log: laconic 2>&1 | jq.
func TestEveryLineForAProgramIsJSON(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	c, err := config.Parse("laconic.yaml", []byte("upstream: http://127.0.0.1:11434/?key=canary"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	start := func(log *runLog) {
		log.started(c, "0.0.0.0:7280", "127.0.0.1:7281")
		log.Warn("something")
	}
	text := logLines(t, "json", "error", start)
	var said struct {
		Level, Msg, Listening, Upstream, Health, Config string
		BaseURL                                         string `json:"base_url"`
		Hints                                           []string
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if said.Level != "info" || said.Msg != "listening" || said.Listening != "http://0.0.0.0:7280" || said.BaseURL != "http://127.0.0.1:7280/v1" ||
		said.Health != "http://127.0.0.1:7281/healthz" || said.Config != "laconic.yaml" || len(said.Hints) != 1 || strings.Contains(text, "canary") {
		t.Errorf("%s", text)
	}
	if text := logLines(t, "console", "error", start); text != startLines(c, "0.0.0.0:7280", "127.0.0.1:7281") {
		t.Errorf("%s", text)
	}
}
