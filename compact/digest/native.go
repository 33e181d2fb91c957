package digest

import (
	"cmp"
	"strconv"
	"strings"

	"laconic/compact"
)

// shellOutput returns what the outputs of a shell_call say, below the code of the command
// that failed, or "" if the parts are no such outputs.
func shellOutput(parts []compact.Part) string {
	var b strings.Builder
	code, head := 0, ""
	for i := range parts {
		if parts[i].Kind != compact.KindOther {
			return ""
		}
		v := valueOf(parts[i].Text.String())
		outcome := valueOf(v.member("outcome"))
		if outcome.kind != '{' {
			return ""
		}
		if n, _ := strconv.Atoi(outcome.member("exit_code")); code == 0 {
			code = n
		}
		text := joined(strings.TrimRight(v.member("stdout"), "\n"), "\n", v.member("stderr"))
		if outcome.member("type") == "timeout" {
			text, head = joined(text, "\n", "(time limit reached)"), "Command timed out\n"
		}
		b.WriteString(text + "\n")
	}
	if len(parts) > 0 && (head == "" || code != 0) {
		head = "Exit code " + itoa(code) + "\n"
	}
	return head + b.String()
}

// A nativeCall is a call that holds its result.
type nativeCall struct {
	action *action
	result result
}

// nativeCallIn returns the call that a part is which no client made, or nil.
func nativeCallIn(p *compact.Part) *nativeCall {
	if p.Kind != compact.KindOther {
		return nil
	}
	v := valueOf(p.Text.String())
	name, ok := strings.CutSuffix(v.member("type"), "_call")
	if !ok {
		return nil
	}
	said := func(names string) string {
		if text := v.member(names); text != "null" {
			return text
		}
		return ""
	}
	arguments := valueOf(v.member("arguments action"))
	only := func(key, text string) value {
		return value{kind: '{', keys: []string{key}, list: []value{{kind: '"', text: text}}}
	}
	switch code, query := v.member("code"), arguments.member("query"); {
	case name == "mcp":
	case code != "":
		arguments = only("code", code)
	case query != "":
		arguments = only("query", query)
	}
	c := &nativeCall{action: actionOf(cmp.Or(v.member("name"), name), arguments)}
	fault := said("error")
	c.result = resultOf(cmp.Or(fault, said("output"), said("outputs"), said("results"), said("status")), c.action.kind)
	c.result.failed = fault != "" || v.member("status") == "failed"
	return c
}
