package runlog

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// logLines is what a log writes in a format at a level.
func logLines(t *testing.T, format, level string, use func(*Log)) string {
	t.Helper()
	var out bytes.Buffer
	log, err := New(level, format, &out)
	if err != nil {
		t.Fatal(err)
	}
	use(log)
	log.Close()
	return out.String()
}

func TestALineForAPersonBeginsWithWhatMatters(t *testing.T) {
	say := func(log *Log) {
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
