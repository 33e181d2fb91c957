package tokenize

import "bytes"

// Tools is the cost of the tools of a request, or of its legacy functions, as raw JSON. Providers render them more
// tersely than JSON (OpenAI as TypeScript), so the cost of the JSON without its white space is above theirs, also
// where schemas nest. Empty, null, [] and {} cost nothing. The JSON is not validated.
func (c *Counter) Tools(raw []byte) int { return c.json(raw) }

// Format is the cost of response_format as raw JSON: that of its text without white space. Empty, null, {} and
// {"type":"text"} cost nothing. The JSON is not validated.
func (c *Counter) Format(raw []byte) int {
	const plain = `{"type":"text"}`
	if len(raw) < 4*len(plain) && string(compactJSON(raw)) == plain {
		return 0
	}
	return c.json(raw)
}

func (c *Counter) json(raw []byte) int {
	size := len(raw) - blanks(raw)
	switch {
	case size <= len("[]"), size == len("null") && bytes.Equal(bytes.TrimSpace(raw), []byte("null")):
		return 0
	case c.Exact():
		return c.Text(string(compactJSON(raw)))
	}
	return c.Bytes(size)
}

// blanks counts the white space of a JSON text that stands outside its strings.
func blanks(raw []byte) (n int) {
	inside := false
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '"':
			inside = !inside
		case inside:
			if raw[i] == '\\' {
				i++ // what follows is escaped, a quote too
			}
		case isJSONBlank(raw[i]):
			n++
		}
	}
	return n
}

// compactJSON is a JSON text without the white space that [blanks] counts.
func compactJSON(raw []byte) []byte {
	kept := make([]byte, 0, len(raw))
	inside, escaped := false, false
	for _, b := range raw {
		switch {
		case escaped:
			escaped = false
		case b == '"':
			inside = !inside
		case inside:
			escaped = b == '\\'
		case isJSONBlank(b):
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

func isJSONBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
