package stage_test

import (
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

func TestTrimResultsAlone(t *testing.T) {
	msgs := compacttest.Messages(t, "user: "+strings.Repeat("u", 300)+"\nassistant: | call a f {} | call b f {}\ntool a: "+strings.Repeat("x", 300)+"\ntool b: short")
	out := stage.TrimResults(msgs, 100, 1)
	if got := text(out[2]); got != strings.Repeat("x", 100)+"\n[trimmed: 300 bytes of tool result, the first 100 are left]" || !out[2].Edited {
		t.Errorf("%s", got)
	}
	if len(text(msgs[2])) != 300 || !out[0].Equal(&msgs[0]) || !out[3].Equal(&msgs[3]) {
		t.Error("more changed than the long result of the copy")
	}
	if again := stage.TrimResults(out, 100, 1); &again[0] != &out[0] {
		t.Errorf("trimmed twice: %s", text(again[2]))
	}
	defer func() {
		if recover() == nil {
			t.Error("a head of 2 is taken")
		}
	}()
	stage.TrimResults(msgs, 100, 2)
}
