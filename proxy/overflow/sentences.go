package overflow

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// sentence is one text in the place of an error, and what is beside it.
type sentence struct {
	text, code, kind string // kind: the error's type
	limit, prompt    int    // llama.cpp's fields
}

// baseResp comes before the codes of MiniMax's base_resp: they are numbers of
// its own, which another upstream may use for something else.
const baseResp = "base_resp "

// most bounds what is looked at: a text is cut there, nesting ends there.
const (
	mostText  = 4 << 10
	mostDepth = 4
)

// sentences finds the texts of an error, outermost first.
func sentences(status int, body []byte) []sentence {
	var all []sentence
	add := func(s sentence) { all = append(all, s) }
	body = bytes.TrimSpace(body)
	if object := objectOf(body); object != nil {
		collect(object, status >= 400, 0, add)
	} else if status >= 400 && len(body) > 0 && body[0] != '<' {
		add(sentence{text: clipped(string(body))}) // plain text
	}
	return all
}

// objectOf reads a JSON object, or the first of an array (Gemini's compatible
// endpoint answers with one). nil for anything else.
func objectOf(raw []byte) map[string]json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
			return nil
		}
		raw = list[0]
	}
	var object map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// collect reads the places where errors stand. isError tells that the status
// says already that this is one; under 200 the body itself must say so, or it
// is an answer.
func collect(o map[string]json.RawMessage, isError bool, depth int, add func(sentence)) {
	if depth > mostDepth {
		return
	}
	for _, key := range []string{"error", "errors", "fault"} { // Cloudflare lists them, Apigee has a fault
		if e, ok := o[key]; ok && !empty(e) {
			reason(e, depth, add)
		}
	}
	if e, ok := o["response"]; ok && text(o["type"]) == failed {
		if inner := objectOf(e); inner != nil {
			collect(inner, false, depth+1, add)
		}
	}
	if e, ok := o["base_resp"]; ok { // MiniMax, under any status
		if inner := objectOf(e); inner != nil && text(inner["status_code"]) != "0" {
			add(sentence{text: clipped(text(inner["status_msg"])), code: baseResp + text(inner["status_code"])})
		}
	}
	if isError || text(o["object"]) == "error" || text(o["type"]) == "error" {
		flat(o, depth, add)
	}
}

// reason reads the value of an error field: an object, a text, or JSON in a
// text.
func reason(raw json.RawMessage, depth int, add func(sentence)) {
	if o := objectOf(raw); o != nil {
		flat(o, depth, add)
		if meta := objectOf(o["metadata"]); meta != nil { // OpenRouter hides the backend's words here
			nested(text(meta["raw"]), depth, add)
		}
		if inner, ok := o["error"]; ok && depth < mostDepth {
			reason(inner, depth+1, add)
		}
		return
	}
	words := text(raw)
	add(sentence{text: clipped(words)})
	nested(words, depth, add)
}

// flat reads an object that is an error.
func flat(o map[string]json.RawMessage, depth int, add func(sentence)) {
	s := sentence{
		code: text(o["code"]), kind: text(o["type"]),
		limit: number(text(o["n_ctx"])), prompt: number(text(o["n_prompt_tokens"])),
	}
	for _, key := range []string{"message", "faultstring", "detail"} {
		words := text(o[key])
		if words == "" {
			if inner := objectOf(o[key]); inner != nil && depth < mostDepth {
				collect(inner, true, depth+1, add)
			}
			continue
		}
		s.text = clipped(words)
		add(s)
		nested(words, depth, add)
		return
	}
	add(s)
}

// nested reads JSON inside of a text, where nothing but the names of errors
// comes before it: what is further in may be a quotation.
func nested(words string, depth int, add func(sentence)) {
	if depth >= mostDepth {
		return
	}
	at := strings.IndexAny(words, "{[")
	if at < 0 || at > 200 || !errorNames().MatchString(words[:at]) {
		return
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(words[at:])).Decode(&raw) != nil {
		return
	}
	if o := objectOf(raw); o != nil {
		collect(o, true, depth+1, add)
	}
}

var errorNames = expression(`(?s)^` + lead + `(?:b')?$`)

// text is a JSON string or number as text; "" for anything else.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	case c >= '0' && c <= '9':
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == float64(int64(f)) {
			return strconv.FormatInt(int64(f), 10)
		}
	}
	return ""
}

func empty(raw json.RawMessage) bool {
	switch string(raw) {
	case "null", `""`, "{}", "false":
		return true
	}
	return false
}

func clipped(s string) string {
	if len(s) > mostText {
		s = s[:mostText]
	}
	return strings.TrimSpace(s)
}
