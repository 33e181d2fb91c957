package wire_test

import (
	"testing"

	"laconic/proxy/wire"
)

func TestDetect(t *testing.T) {
	f := func(body string, want wire.Wire) {
		t.Helper()
		if got := wire.Detect([]byte(body)); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
	f(`{"messages":[{"role":"user","content":"x"}]}`, wire.Chat)
	f(`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"tools":[{"type":"function"}]}`, wire.Chat)
	f(`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`, wire.Chat)
	f(`{"messages":[{"role":"user","content":"x"}],"system":"y"}`, wire.Messages)
	f(`{"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{}}]}`, wire.Messages)
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, wire.Messages)
	f(`{"messages":[{"role":"user","content":[{"type":"image","source":{}}]}]}`, wire.Messages)
	f(`{"input":"x","model":"m"}`, wire.Responses)
	f(`{"input":[{"type":"function_call"}]}`, wire.Responses)
	f(`{"messages":[{"role":"user","content":"x"},{"type":"function_call","call_id":"a"}]}`, wire.Responses)
	f(`{"messages":[{"type":"message","role":"user","content":[{"type":"input_text"}]}]}`, wire.Responses)
	f(`{"messages":null}`, nil)
	f(`{"prompt":"x"}`, nil)
	f(`[1]`, nil)
	f(``, nil)
}
