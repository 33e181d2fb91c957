package runlog

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

// logLines is what a log writes in a format at a level.
func logLines(t *testing.T, format, level string, use func(*Log)) string {
	t.Helper()
	var out bytes.Buffer
	log := New(level, format, &out)
	use(log)
	log.Close()
	return out.String()
}

func TestALineForAPersonSaysWhatHappened(t *testing.T) {
	say := func(log *Log) {
		log.Info("compaction", zap.String("request_id", "abc"), zap.String("outcome", "compacted"), zap.String("model", "a b\u202e\x1b[31m"),
			zap.Int("tokens_before", 90), zap.Int("tokens_after", 9), zap.Int("budget", 50), zap.Int("results_dropped", 1), zap.Int("repairs", 0),
			zap.Int("status", 200), zap.Duration("duration", 1234567*time.Microsecond), zap.String("error", "x"))
	}
	f := func(level, want string, say func(*Log)) {
		t.Helper()
		_, got, _ := strings.Cut(logLines(t, "console", level, say), "\tINFO\t")
		if got != want+"\n" {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	const short = `compacted "a b\u202e\x1b[31m" 90 → 9 of 50 tokens, 200 in 1.235s`
	f("info", short+" error=x", say)
	f("debug", short+" request_id=abc results_dropped=1 repairs=0 error=x", say)
	f("info", "untouched m 9 of 50 tokens, 200 in 15ms", func(log *Log) {
		log.Info("compaction", zap.String("outcome", "untouched"), zap.String("model", "m"),
			zap.Int("tokens_before", 9), zap.Int("tokens_after", 9), zap.Int("budget", 50), zap.Int("status", 200), zap.Duration("duration", 15123*time.Microsecond))
	})
	f("info", "GET /models passed (route), 200 in 0s", func(log *Log) {
		log.Info("request", zap.String("method", "GET"), zap.String("endpoint", "/models"), zap.String("outcome", "passed"), zap.String("reason", "route"),
			zap.Int("status", 200), zap.Duration("duration", 123*time.Microsecond))
	})
	f("info", "summary model=m duration=2s", func(log *Log) { log.Info("summary", zap.String("model", "m"), zap.Duration("duration", 2*time.Second)) })
}

// Colors are for terminals that want them; what a pipe gets has none.
func TestColorsAreForTerminals(t *testing.T) {
	for want, env := range map[bool]map[string]string{true: {"TERM": "xterm"}, false: {"TERM": "dumb"}} {
		if colors(func(name string) string { return env[name] }) != want {
			t.Errorf("%v: %v", env, !want)
		}
	}
	if colors(func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }) {
		t.Error("NO_COLOR is not honoured")
	}
	if text := logLines(t, "console", "info", func(log *Log) { log.Error("x") }); strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
