package wire_test

import (
	"fmt"
	"strings"
)

// bodyWriter writes the body of a chat request, as the bytes of source decide;
// when they are used up it comes to an end.
type bodyWriter struct {
	source []byte
	b      strings.Builder
	calls  int
}

func (w *bodyWriter) chance(n int) int {
	if len(w.source) == 0 {
		return 0
	}
	c := int(w.source[0])
	w.source = w.source[1:]
	return c % n
}

func (w *bodyWriter) pick(of ...string) string { return of[w.chance(len(of))] }

// list writes n things with commas and any space between them.
func (w *bodyWriter) list(open, end string, n int, one func(i int)) {
	w.b.WriteString(open)
	for i := range n {
		if i > 0 {
			w.b.WriteString(w.pick(",", ", ", " ,\n\t"))
		}
		one(i)
	}
	w.b.WriteString(end)
}

func (w *bodyWriter) body() {
	w.b.WriteString(w.pick("", " ") + `{"model":"m", "x_vendor" : 1e0,"messages"` + w.pick(":", " : "))
	w.b.WriteString("[")
	for first := true; first || len(w.source) > 0; first = false {
		if !first {
			w.b.WriteString(w.pick(",", ",\n "))
		}
		w.message()
	}
	w.b.WriteString("]" + w.pick("", `,"tools":[{"type":"function","function":{"name":"f"}}]`, `, "stream":true `) + "}")
}

func (w *bodyWriter) message() {
	role := w.pick("assistant", "tool", "user", "assistant", "tool", "system", "function", "developer", "assistant", "tool")
	fields := []func(){func() { w.b.WriteString(`"role":"` + role + `"`) }}
	add := func(one int, of int, f func()) {
		if w.chance(of) < one {
			fields = append(fields, f)
		}
	}
	text := func(s string) func() { return func() { w.b.WriteString(s) } }
	add(9, 10, w.content)
	add(1, 8, func() { fmt.Fprintf(&w.b, `"vendor":%d`, w.b.Len()) })
	switch role {
	case "tool":
		add(7, 8, func() { w.b.WriteString(`"tool_call_id":` + w.id()) })
		add(1, 30, text(`"tool_calls":[]`))
	case "function":
		add(7, 8, func() { w.b.WriteString(`"name":"` + w.pick("f", "g") + `"`) })
	case "user":
		add(1, 30, text(`"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]`))
		add(1, 30, text(`"function_call":{"name":"f","arguments":"{}"}`))
	case "assistant":
		add(2, 3, w.toolCalls)
		add(1, 12, text(`"function_call":{"name":"`+w.pick("f", "g")+`","arguments":"{}"}`))
		add(1, 12, text(`"reasoning_content":`+w.pick(`""`, `"hmm"`, `null`)))
		add(1, 6, func() {
			w.b.WriteString(`"thinking_blocks":[{"type":"thinking","thinking":"` + strings.Repeat("so ", w.chance(30)) + `","signature":` + w.pick(`"s"`, `"s"`, `""`, `null`) + `}` + w.pick("", ` , {"type":"redacted_thinking","data":"AA=="}`) + "]")
		})
		add(1, 9, func() {
			w.b.WriteString(`"reasoning_details" : [` + w.pick("", `{"type":"reasoning.text","text":"first ","format":"anthropic-claude-v1","index":0},`) +
				`{"type":"reasoning.text","text":"hm","signature":` + w.pick(`"s"`, `"s"`, `null`) + w.pick("", `,"format":"anthropic-claude-v1"`, `,"format":"google-gemini-v1"`, `,"format":null`) + "}]")
		})
		add(1, 20, text(`"thought_signature":"s"`))
		add(1, 16, text(`"refusal":`+w.pick(`"no"`, `null`)))
		add(1, 16, text(`"prefix":true`))
		add(1, 16, text(`"audio":{"id":"a"}`))
	}
	for i := len(fields) - 1; i > 0; i-- { // in any order
		k := w.chance(i + 1)
		fields[i], fields[k] = fields[k], fields[i]
	}
	w.list("{"+w.pick("", " "), w.pick("", " ")+"}", len(fields), func(i int) { fields[i]() })
}

func (w *bodyWriter) id() string {
	return w.pick(`"c1"`, `"c2"`, `"c3"`, `"c1_2"`, `"call_1"`, `""`, `"abcdefghi"`, `7`, `"c\u0031"`, `"c4"`, `"c5"`)
}

func (w *bodyWriter) content() {
	w.b.WriteString(`"content":`)
	switch w.chance(8) {
	case 0:
		w.b.WriteString(w.pick("null", `""`, "[]"))
	case 1, 2:
		w.list("[", w.pick("", " ")+"]", 1+w.chance(4), func(int) { w.part() })
	default:
		w.text()
	}
}

func (w *bodyWriter) part() {
	switch w.chance(8) {
	case 0:
		w.b.WriteString(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 40*w.chance(100)) + `"},"cache_control":{"type":"ephemeral"}}`)
	case 1:
		w.b.WriteString(`{"type":"weird","x":1}`)
	case 2:
		w.b.WriteString(`{"type":"thinking","thinking":"so"` + w.pick("", `,"signature":"s"`, `,"signature":""`) + "}")
	case 3:
		w.b.WriteString(`{"type":"text","text":""}`)
	case 4:
		w.b.WriteString(`{"type":"input_audio","input_audio":{"data":"` + strings.Repeat("A", 40*w.chance(100)) + `","format":"wav"}}`)
	default:
		w.b.WriteString(`{"type":"text","text":`)
		w.text()
		if w.chance(4) == 0 {
			fmt.Fprintf(&w.b, `,"cache_control":{"type":"ephemeral"},"vendor":%d`, w.b.Len())
		}
		w.b.WriteString("}")
	}
}

// text writes a string.
func (w *bodyWriter) text() {
	n := w.chance(12)
	if w.chance(8) == 0 {
		n *= 40
	}
	s := w.pick("read it. ", `src/a.go:12\t`, `\n\n \t`, `{\"port\": 48213} `, `\u00e9漢\ud83d\ude00 `, `\\n\" `, `[Record of `, `never do that\n`, "same ")
	w.b.WriteString(`"` + strings.Repeat(s, n) + `"`)
}

func (w *bodyWriter) toolCalls() {
	w.b.WriteString(`"tool_calls":`)
	if w.chance(16) == 0 {
		w.b.WriteString(w.pick("null", "[]"))
		return
	}
	w.list("[", w.pick("", " ")+"]", 1+w.chance(4), func(int) { w.call() })
}

func (w *bodyWriter) call() {
	w.calls++
	fmt.Fprintf(&w.b, `{"vendor":%d`, w.calls)
	if w.chance(6) > 0 {
		w.b.WriteString(`,"id":` + w.id())
	}
	switch w.chance(8) {
	case 0:
		w.b.WriteString(`,"type":"custom","custom":{"name":"f","input":"go"}`)
	case 1:
		w.b.WriteString(`,"type":"function","function":{"name":"f","arguments":{"p":"x"}}`)
	case 2:
		w.b.WriteString(`,"function":{"name":"g"}`)
	default:
		w.b.WriteString(`,"type":"function","function":{"name":"` + w.pick("f", "g") + `","arguments":"{\"path\":\"` + strings.Repeat("long/", 60*w.chance(6)) + `\"}"}`)
	}
	if w.chance(12) == 0 {
		w.b.WriteString(`,"extra_content":{"google":{"thought_signature":"s"}}`)
	}
	w.b.WriteString("}")
}
