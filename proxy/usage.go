package proxy

import (
	"bytes"
	"encoding/json"
	"iter"
)

// tailSize is how much of an answer's end is kept: the usage stands there in
// streams and in whole answers alike, and takes some 700 bytes.
const tailSize = 2 << 10

// tail keeps the end of what is added to it. The zero value keeps nothing.
type tail struct {
	keep int
	b    []byte
}

func (t *tail) add(p []byte) {
	switch {
	case t.keep == 0:
	case len(p) >= t.keep:
		t.b = append(t.b[:0], p[len(p)-t.keep:]...)
	default:
		if over := len(t.b) + len(p) - 2*t.keep; over > 0 {
			t.b = append(t.b[:0], t.b[len(t.b)-t.keep:]...)
		}
		t.b = append(t.b, p...)
	}
}

// done tells whether an event stream said that it is complete.
func done(text []byte) bool {
	i := bytes.LastIndex(text, []byte("data:"))
	return i >= 0 && bytes.HasPrefix(bytes.TrimLeft(text[i+len("data:"):], " "), []byte("[DONE]"))
}

// usageIn finds the last usage object in the end of an answer, nil when there
// is none.
func usageIn(text []byte) *Usage {
	for value := range valuesOf("usage", text) {
		var u struct {
			Prompt     *int `json:"prompt_tokens"`
			Completion int  `json:"completion_tokens"`
			Details    struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			Hit int `json:"prompt_cache_hit_tokens"` // DeepSeek
		}
		if json.NewDecoder(bytes.NewReader(value)).Decode(&u) != nil || u.Prompt == nil {
			continue // null in every chunk but the last
		}
		return &Usage{Prompt: *u.Prompt, Completion: u.Completion, Cached: max(u.Details.Cached, u.Hit)}
	}
	return nil
}

// generatedTokens reports whether a text says that tokens were generated.
func generatedTokens(text []byte) bool {
	for value := range valuesOf("completion_tokens", text) {
		var n float64
		if json.NewDecoder(bytes.NewReader(value)).Decode(&n) == nil && n > 0 {
			return true
		}
	}
	return false
}

// valuesOf returns what follows each key of that name in a JSON text or in its
// end, the last one first. A string that quotes one cannot be taken for it: its
// quotes are escaped.
func valuesOf(key string, text []byte) iter.Seq[[]byte] {
	quoted := []byte(`"` + key + `"`)
	return func(yield func([]byte) bool) {
		for end := len(text); ; {
			i := bytes.LastIndex(text[:end], quoted)
			if i < 0 {
				return
			}
			end = i
			rest := bytes.TrimLeft(text[i+len(quoted):], " \t\r\n")
			if i > 0 && text[i-1] == '\\' || len(rest) == 0 || rest[0] != ':' {
				continue
			}
			if !yield(rest[1:]) {
				return
			}
		}
	}
}
