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
	f(`there is no flag --zzzzzz (laconic demo --help lists them)`, "demo --zzzzzz")
	f(`there is no flag -x (laconic --help lists them)`, "-x")
	f(`--budget cannot be "abc": it takes a whole number`, "demo --budget abc")
	f(`--fast cannot be "maybe": it takes true or false`, "demo --fast=maybe")
	f(`--turns needs a value: a whole number`, "demo --turns")
	f(`--budget is a number of tokens above 0`, "demo --budget -5")
	f(`--price-write cannot be "x": it takes a number`, "replay --price-write x f")
	f(`laconic demo takes no arguments, and "x" is one`, "demo x")
	f(`laconic check takes one file, not 2`, "check a b")
	f(`nowhere.json: there is no such file`, "count nowhere.json")
}
