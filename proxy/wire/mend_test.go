package wire_test

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
)

// TestItemsAreMended: ids leave from their second use on, and an output has the type that
// its call wants, or leaves.
func TestItemsAreMended(t *testing.T) {
	const (
		no     = `"output":"` + compact.NoResult + `"`
		user   = `{"role":"user","content":"go"},`
		call   = `{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"}`
		custom = `{"type":"custom_tool_call","call_id":"a","name":"apply_patch","input":"x"}`
		shell  = `{"type":"shell_call","call_id":"a","action":{}}`
		local  = `{"type":"local_shell_call","call_id":"a","action":{}}`
		out    = `{"type":"function_call_output","call_id":"a","output":"ok"}`
		outs   = `{"call_id":"a","type":"custom_tool_call_output","output":[{"type":"input_text","text":"ok"}]}`
	)
	f := func(items, want string) {
		t.Helper()
		body := func(items string) string { return `{"store":false,"input":[` + items + `]}` }
		r := decoded(t, wire.Responses, []byte(body(items)))
		msgs, _ := r.Conversation.Rules.Repair(r.Conversation.Messages, compact.RepairAnswer)
		got, err := r.Encode(msgs)
		if err != nil || string(got) != body(want) {
			t.Errorf("%s\ngives %s (%v)\nwant  %s", items, got, err, body(want))
		}
	}
	f(user+call+","+out+","+strings.ReplaceAll(call, `"a"`, `"b"`)+","+strings.ReplaceAll(out, `"a"`, `"b"`),
		user+call+","+out+`,{"type":"function_call","call_id":"b","name":"f","arguments":"{}"},`+strings.ReplaceAll(out, `"a"`, `"b"`))
	f(`{"id":"m1","role":"user","content":"go"},{ "id" : "m1" , "role":"user","content":"on"}`,
		`{"id":"m1","role":"user","content":"go"},{ "role":"user","content":"on"}`)
	f(user+`{"type":"web_search_call","id":"w"},{"type":"additional_tools","tools":[],"id":"w"}`,
		user+`{"type":"web_search_call","id":"w"},{"type":"additional_tools","tools":[]}`)
	f(user+custom+","+out, user+custom+","+strings.Replace(out, "function_call", "custom_tool_call", 1))
	f(user+call+","+outs, user+call+","+strings.Replace(outs, "custom_tool_call", "function_call", 1))
	f(user+outs+","+call, user+call+","+strings.Replace(outs, "custom_tool_call", "function_call", 1))
	f(user+custom+","+strings.Replace(out, `"a"`, `"z"`, 1), // the only one that is open
		user+custom+","+strings.Replace(out, "function_call", "custom_tool_call", 1))
	f(user+local+","+outs, user+local+","+strings.Replace(outs, "custom_tool_call", "function_call", 1))
	f(user+local+","+out, user+local+","+out)
	f(user+`{"type":"web_search_call","id":"w"},{"type":"of_later","id":"w"}`, user+`{"type":"web_search_call","id":"w"},{"type":"of_later","id":"w"}`)
	f(user+local+`,{"type":"local_shell_call_output","id":"a","output":"ok"}`, user+local+`,{"type":"local_shell_call_output","id":"a","output":"ok"}`)
	f(user+call+","+out+`,{"type":"function_call_output","call_id":null,"output":"ok"}`, user+call+","+out+`,{"type":"function_call_output","call_id":null,"output":"ok"}`)
	f(user+shell+","+out,
		user+shell+`,{"type":"shell_call_output","call_id":"a","output":[{"stdout":"","stderr":`+strings.TrimPrefix(no, `"output":`)+`,"outcome":{"type":"exit","exit_code":1}}]}`)
	f(user+call+`,{"type":"shell_call_output","call_id":"a","output":[]}`,
		user+call+`,{"type":"function_call_output","call_id":"a",`+no+`}`)
	f(user+call+","+custom+","+outs+","+out, // crossed outputs of one id
		user+call+","+strings.Replace(custom, `"a"`, `"a_2"`, 1)+","+strings.Replace(outs, `"a"`, `"a_2"`, 1)+","+out)
	f(user+call+","+custom+","+out+","+out, // a second output of one type is the other call's
		user+call+","+strings.Replace(custom, `"a"`, `"a_2"`, 1)+","+out+","+strings.Replace(strings.Replace(out, "function_call", "custom_tool_call", 1), `"a"`, `"a_2"`, 1))
	f(user+call+`,{"role":"user","content":"and"},`+custom+","+outs+","+out, // of two turns
		user+call+`,{"role":"user","content":"and"},`+strings.Replace(custom, `"a"`, `"a_2"`, 1)+","+strings.Replace(outs, `"a"`, `"a_2"`, 1)+","+out)
	f(user+shell+`,{"type":"shell_call_output","call_id":"a","output":[]},`+call+","+out, // one id, two types
		user+shell+`,{"type":"shell_call_output","call_id":"a","output":[]},`+strings.Replace(call, `"a"`, `"a_2"`, 1)+","+strings.Replace(out, `"a"`, `"a_2"`, 1))
}
