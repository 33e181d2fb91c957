package digest

import (
	"cmp"
	"strings"

	"laconic/compact"
)

// shellOutput returns what the outputs of a shell_call say, below the code of the command
// that failed, or "" if the parts are no such outputs.
func shellOutput(parts []compact.Part) string {
	var text strings.Builder
	code, head := "0", ""
	for i := range parts {
		v := valueOf(parts[i].Text.String())
		outcome := valueOf(v.member("outcome"))
		if parts[i].Kind != compact.KindOther || outcome.kind != '{' {
			return ""
		}
		if n := outcome.member("exitcode"); n != "" && code == "0" {
			code = n
		}
		text.WriteString(joined(strings.TrimRight(v.member("stdout"), "\n"), "\n", v.member("stderr")) + "\n")
		if outcome.member("type") == "timeout" {
			text.WriteString("(time limit reached)\n")
			head = "Command timed out\n"
		}
	}
	if len(parts) > 0 && (head == "" || code != "0") {
		head = "Exit code " + code + "\n"
	}
	return head + text.String()
}

// nativeCall returns the call that an item is which no client made, with its result, or nil.
func nativeCall(item string) *event {
	v := valueOf(item)
	name, ok := strings.CutSuffix(v.member("type"), "_call")
	if !ok {
		return nil
	}
	arguments := valueOf(v.member("arguments action"))
	for _, key := range []string{"code", "query"} {
		if text := cmp.Or(v.member(key), arguments.member(key)); text != "" && name != "mcp" {
			arguments = object(key, text)
		}
	}
	said, fails := "", v.member("status") == "failed"
	for _, key := range []string{"status", "results", "outputs", "output", "error"} {
		if text := v.member(key); text != "" && text != "null" {
			said, fails = text, fails || key == "error"
		}
	}
	a := actionOf(cmp.Or(v.member("name"), name), arguments)
	r := resultOf(said, a.kind)
	r.failed = fails
	return &event{by: byCall, action: a, result: r}
}
