package overflow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
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

// errorReader collects the texts of an error, outermost first.
type errorReader []sentence

// sentences finds the texts of an error.
func sentences(status int, body []byte) []sentence {
	var r errorReader
	body = bytes.TrimSpace(body)
	switch o := objectOf(gjson.ParseBytes(body)); {
	case o.IsObject() && json.Valid(body):
		r.collect(o, status >= 400 || bare(o), 0)
	case status >= 400 && len(body) > 0 && body[0] != '<':
		r.add(sentence{text: string(body)}) // plain text
	}
	return r
}

// bare reports whether an object has nothing but what errors without a name for it have:
// FastAPI's detail (TabbyAPI, mlx), Cohere's message, the code of Databricks.
func bare(o gjson.Result) bool {
	only := false // an object without members is no error
	o.ForEach(func(key, _ gjson.Result) bool {
		only = slices.Contains([]string{"detail", "message", "error_code", "code", "status"}, key.Str)
		return only
	})
	return only
}

// add adds a text, cut to what is looked at.
func (r *errorReader) add(s sentence) {
	s.text = strings.TrimSpace(s.text[:min(len(s.text), mostText)])
	*r = append(*r, s)
}

// objectOf returns an object, or the first of an array (Gemini's compatible endpoint
// answers with one).
func objectOf(v gjson.Result) gjson.Result {
	if v.IsArray() {
		return v.Get("0")
	}
	return v
}

// collect reads the places where errors stand. isError tells that the status
// says already that this is one; under 200 the body itself must say so, or it
// is an answer.
func (r *errorReader) collect(o gjson.Result, isError bool, depth int) {
	if depth > mostDepth || !o.IsObject() {
		return
	}
	for _, key := range []string{"error", "errors", "fault"} { // Cloudflare lists them, Apigee has a fault
		r.reason(o.Get(key), depth)
	}
	if o.Get("type").Str == failed {
		r.collect(o.Get("response"), false, depth+1)
	}
	if e := o.Get("base_resp"); e.IsObject() && text(e.Get("status_code")) != "0" { // MiniMax, under any status
		r.add(sentence{text: e.Get("status_msg").Str, code: baseResp + text(e.Get("status_code"))})
	}
	if isError || o.Get("object").Str == "error" || o.Get("type").Str == "error" {
		r.flat(o, depth)
	}
}

// reason reads the value of an error field: an object, a text, or JSON in a
// text.
func (r *errorReader) reason(e gjson.Result, depth int) {
	switch e = objectOf(e); {
	case e.Type == gjson.String && e.Str != "":
		r.add(sentence{text: e.Str})
		r.nested(e.Str, depth)
	case e.IsObject() && len(e.Map()) > 0:
		r.flat(e, depth)
		r.nested(e.Get("metadata.raw").Str, depth) // OpenRouter hides the backend's words here
		if depth < mostDepth {
			r.reason(e.Get("error"), depth+1)
		}
	}
}

// flat reads an object that is an error.
func (r *errorReader) flat(o gjson.Result, depth int) {
	s := sentence{
		code: text(o.Get("code")), kind: text(o.Get("type")),
		limit: number(text(o.Get("n_ctx"))), prompt: number(text(o.Get("n_prompt_tokens"))),
	}
	for _, key := range []string{"message", "faultstring", "detail", "msg"} {
		if s.text = text(o.Get(key)); s.text != "" {
			r.add(s)
			r.nested(s.text, depth)
			return
		}
		r.collect(objectOf(o.Get(key)), true, depth+1)
	}
	r.add(s)
}

// nested reads JSON, or what Python makes of it, inside of a text, where nothing but the
// names of errors comes before it: what is further in may be a quotation.
func (r *errorReader) nested(words string, depth int) {
	at := strings.IndexAny(words, "{[")
	if at >= 0 && at <= 200 && errorNames().MatchString(words[:at]) {
		if m := represented().FindStringSubmatch(words[at:]); m != nil {
			r.add(sentence{text: m[1] + m[2]})
		}
		r.collect(objectOf(gjson.Parse(words[at:])), true, depth+1)
	}
}

var errorNames = expression(`(?is)^` + lead + `(?:b')?$`)

// represented matches an error as Python represents it, up to its message.
var represented = expression(`(?s)^\{(?:'\w+': (?:\{|(?:None|\d+|'[^']*'), ))*'(?:message|detail|error)': (?:"([^"]*)|'([^']*))`)

// text is a JSON string or a whole number as text; "" for anything else.
func text(v gjson.Result) string {
	if v.Type == gjson.Number && v.Num >= 0 && v.Num == float64(int64(v.Num)) {
		return strconv.FormatInt(int64(v.Num), 10)
	}
	return v.Str
}
