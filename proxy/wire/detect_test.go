package wire_test

import (
	"testing"

	"laconic/proxy/wire"
)

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		body string
		want wire.Wire
	}{
		{`{"messages":[{"role":"user","content":"x"}]}`, wire.Chat},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"tools":[{"type":"function"}]}`, wire.Chat},
		{`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`, wire.Chat},
		{`{"messages":[{"role":"user","content":"x"}],"system":"y"}`, wire.Messages},
		{`{"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{}}]}`, wire.Messages},
		{`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, wire.Messages},
		{`{"messages":[{"role":"user","content":[{"type":"image","source":{}}]}]}`, wire.Messages},
		{`{"input":"x","model":"m"}`, wire.Responses},
		{`{"input":[{"type":"function_call"}]}`, wire.Responses},
		{`{"messages":[{"role":"user","content":"x"},{"type":"function_call","call_id":"a"}]}`, wire.Responses},
		{`{"messages":[{"type":"message","role":"user","content":[{"type":"input_text"}]}]}`, wire.Responses},
		{`{"messages":null}`, nil},
		{`{"prompt":"x"}`, nil},
		{`[1]`, nil},
		{``, nil},
	} {
		if got := wire.Detect([]byte(tc.body)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.body, got, tc.want)
		}
	}
}
