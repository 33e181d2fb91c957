package compacttest

import "encoding/json"

// Wrappers are the ways in which agents write the text of a tool result.
var Wrappers = []string{"plain", "json", "parts", "nested"}

// Wrap writes a text in one of the Wrappers.
func Wrap(how, text string) string {
	var v any = text
	switch how {
	case "plain":
		return text
	case "json":
		v = map[string]any{"output": text, "metadata": map[string]any{"exit_code": 0}}
	case "parts":
		v = []map[string]any{{"type": "text", "text": text}}
	case "nested":
		inner, _ := json.Marshal([]map[string]any{{"type": "text", "text": text}})
		v = map[string]any{"output": string(inner)}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
