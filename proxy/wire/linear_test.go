package wire_test

import (
	"runtime"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
)

// takesLinearMemory fails where f takes far more than eight times the memory for
// eight times as much.
func takesLinearMemory(t *testing.T, what string, f func(n int)) {
	t.Helper()
	taken := func(n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f(n)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	taken(1000)
	if small, large := taken(2_000), taken(16_000); large > 3*8*small {
		t.Errorf("%s: eight times as much takes %.1f times the memory", what, large/small)
	}
}

// TestReadingAnErrorIsLinear: it may repeat a key that is looked for.
func TestReadingAnErrorIsLinear(t *testing.T) {
	for _, w := range wire.All {
		for _, piece := range []string{`"completion_tokens":0,`, `"output_tokens":"",`, `"output_tokens":{`} {
			takesLinearMemory(t, w.Name()+" "+piece, func(n int) {
				text := []byte(`{"error":{` + strings.Repeat(piece, n))
				w.Refusal(400, text)
				w.End(wire.Answer{Tail: text})
			})
		}
	}
}

// TestDecodingIsLinear: twice the body takes about twice the memory, whatever repeats
// in it.
func TestDecodingIsLinear(t *testing.T) {
	f := func(w wire.Wire, head, piece, tail string) {
		t.Helper()
		takesLinearMemory(t, w.Name()+" "+piece, func(n int) {
			r, err := w.Decode([]byte(head + strings.Repeat(piece+",", n-1) + piece + tail))
			if err != nil {
				t.Fatalf("%s %s: %v", w.Name(), piece, err)
			}
			r.Sum(func(raw string) compact.Sum { return compact.Sum{Size: len(raw)} })
		})
	}
	f(wire.Chat, `{"messages":[`, `{"role":"user","content":"x"}`, `]}`)
	f(wire.Responses, `{"store":false,"input":[`, `{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]}`, `]}`)
	f(wire.Responses, `{"store":false,"input":[`, `{"type":"function_call","call_id":"a","name":"f","arguments":"{}","async":true}`, `]}`)
	f(wire.Responses, `{"store":false,"input":[`, `{"type":"web_search_call"},{"role":"user","content":"x"}`, `]}`)
	f(wire.Messages, `{"messages":[{"role":"user","content":[`, `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`, `]}]}`)
	f(wire.Messages, `{"messages":[{"role":"user","content":[`, `{"type":"tool_result","tool_use_id":"a","content":"x"}`, `]}]}`)
	f(wire.Messages, `{"messages":[{"role":"assistant","content":[`, `{"type":"tool_use","id":"a","name":"f","input":{}}`, `]}]}`)
}
