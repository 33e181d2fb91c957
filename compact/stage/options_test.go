package stage_test

import (
	"strings"
	"testing"

	"laconic/compact/stage"
)

func TestOptionsAreStrict(t *testing.T) {
	f := func(name, options, want string) {
		t.Helper()
		_, err := stage.New(name, []byte(options))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v, want it to say %q", name, options, err, want)
		}
	}
	f("trim_result", ``, `there is no stage "trim_result"`)
	f("trim_results", `{"max_char": 1}`, "there is no option max_char")
	f("trim_results", `{"max_chars": "many"}`, "option max_chars cannot be a string")
	f("trim_results", `{"max_chars": 0}`, "max_chars must be at least 1")
	f("elide_results", `{"min_bytes": -1}`, "min_bytes must be at least 0")
	f("drop_oldest", `[]`, "options are written as {name: value}")
}
