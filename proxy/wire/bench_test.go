package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire"
	"laconic/proxy/wire/wiretest"
)

// history is the body of a coding agent's request, of about size bytes: tools,
// a system prompt, then calls and results of about 4 kB a pair. Results are
// source text, so every thirty bytes something is escaped.
func history(size int) []byte {
	var b bytes.Buffer
	put := func(v any) {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString(`{"model":"gpt-4o","stream":true,"max_completion_tokens":4096,"tools":[`)
	for i := range 8 {
		if i > 0 {
			b.WriteByte(',')
		}
		put(map[string]any{"type": "function", "function": map[string]any{
			"name": fmt.Sprintf("tool_%d", i), "description": strings.Repeat("Reads a file of the project. ", 4),
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}},
		}})
	}
	b.WriteString(`],"messages":[`)
	put(map[string]any{"role": "system", "content": strings.Repeat("You are a careful engineer.\n", 60)})
	b.WriteByte(',')
	put(map[string]any{"role": "user", "content": "Make the parser accept \"quoted\" names, please."})
	for i := 0; b.Len() < size; i++ {
		id := fmt.Sprintf("call_%08d", i)
		b.WriteByte(',')
		args, _ := json.Marshal(map[string]any{"path": fmt.Sprintf("internal/parser/file_%d.go", i), "lines": []int{i, i + 60}})
		put(map[string]any{"role": "assistant", "content": "Let me look at the next file.", "tool_calls": []any{
			map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "tool_1", "arguments": string(args)}},
		}})
		b.WriteByte(',')
		put(map[string]any{"role": "tool", "tool_call_id": id, "content": source(i)})
	}
	b.WriteString(`],"temperature":0.2}`)
	return b.Bytes()
}

// source is about 3.7 kB of program text.
func source(seed int) string {
	var s strings.Builder
	for line := 0; s.Len() < 3700; line++ {
		fmt.Fprintf(&s, "%4d\tif err := p.expect(%q, n%d); err != nil {\n\t\treturn fmt.Errorf(\"line %%d → %%w\", %d, err)\n\t}\n",
			line, "name", seed+line, line*seed%97)
	}
	return s.String()
}

var sizes = []struct {
	name string
	size int
}{{"40KB", 40 << 10}, {"400KB", 400 << 10}, {"4MB", 4 << 20}}

func BenchmarkDecode(b *testing.B) {
	for _, s := range sizes {
		chat := history(s.size)
		for _, w := range wire.All {
			body := wiretest.As(b, w, chat)
			b.Run(s.name+"/"+w.Name(), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := w.Decode(body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// elided is the list with nine of ten tool results replaced by a notice, as a
// fold leaves it.
func elided(r *wire.Request) []compact.Message {
	msgs := append([]compact.Message(nil), r.Conversation.Messages...)
	for i := range msgs[:len(msgs)*9/10] {
		if m := &msgs[i]; m.Role == compact.Tool {
			text := fmt.Sprintf("(elided: %d bytes of tool result)", m.Parts[0].Text.Len())
			m.Parts, m.Edited = []compact.Part{{Text: compact.Plain(text)}}, true
		}
	}
	return msgs
}
