package tokenize

import (
	"bytes"
	"encoding/json"
)

// Tools returns the cost of the tools of a request, or of its legacy functions, as raw JSON. Empty, null, [] and {} cost
// nothing. For OpenAI's models it is the known formula (functions.go), for models behind a chat template what that
// makes of the list (tools.go), else the count of the JSON.
func (c *Counter) Tools(raw []byte) int {
	if empty(raw) {
		return 0
	}
	f := &c.text.framing
	switch {
	case f.function > 0:
		return c.functions(raw)
	case f.template:
		return c.templated(raw)
	}
	return c.json(raw) + f.tools
}

// Format returns the cost of response_format as raw JSON: that of its text without white space. Empty, null, {} and
// {"type":"text"} cost nothing. The JSON is not validated.
func (c *Counter) Format(raw []byte) int {
	const plain = `{"type":"text"}`
	if empty(raw) || len(raw) < 4*len(plain) && string(compactJSON(raw)) == plain {
		return 0
	}
	return c.json(raw)
}

// empty reports whether a JSON text holds nothing.
func empty(raw []byte) bool {
	if len(raw) > 64 { // longer ones with nothing but blanks cost a little
		return false
	}
	switch string(compactJSON(raw)) {
	case "", "null", "[]", "{}":
		return true
	}
	return false
}

// json returns the cost of a JSON text without its white space.
func (c *Counter) json(raw []byte) int {
	if !c.Reads() {
		return c.Bytes(len(compactJSON(raw)))
	}
	return c.text.count(compactJSON(raw))
}

// compactJSON returns a JSON text without the white space outside its strings, and any other text as it is.
func compactJSON(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
