package cli

import (
	"bytes"
	"strings"
	"testing"
)

// What is mistyped is told in words of the command line, with what was meant
// where that is known.
func TestWhatIsMistypedIsHelped(t *testing.T) {
	f := func(want, line string) {
		t.Helper()
		var out, said bytes.Buffer
		code := Run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &said)
		if code == 0 || said.String() != "laconic: "+want+"\n" {
			t.Errorf("laconic %s: code %d, %s%s", line, code, &said, &out)
		}
	}
	f(`there is no command "chek", did you mean check?`, "chek")
	f(`there is no command "xyzzy"; there are check, compact, completion, count, demo, doctor, env, erase, healthcheck, init, man, policies, replay, run, schema, serve, top, version`, "xyzzy")
	f(`there is no flag --listn, did you mean --listen?`, "serve --listn x")
	f(`unknown flag: --zzzzzz (laconic demo --help lists the flags)`, "demo --zzzzzz")
	f(`--budget cannot be "abc": it is of the type int`, "demo --budget abc")
	f(`--budget is a number of tokens above 0`, "demo --budget -5")
	f(`unknown command "x" for "laconic demo"`, "demo x")
	f(`nowhere.json: there is no such file`, "count nowhere.json")
}
