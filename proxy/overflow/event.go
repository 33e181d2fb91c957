package overflow

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// MostUndecided is how much of an answer is waited for until its first event, or all
// of its JSON, is there.
const MostUndecided = 64 << 10

// failed is the type of an event that is an error, and echoes the request as those
// that open a stream do.
const failed = "response.failed"

// FirstEvent looks at the start of an answer under status 200, not compressed
// any more. whole: nothing follows. refusal is the JSON of the error when it begins with
// one; known is false where what is there may become an error.
//
// It asks for more until the first event has ended: half an event is of no use to a
// client, so that none waits for it. Events of the types in opening decide nothing, and
// echo the request: they and failures are waited for whatever their size.
func FirstEvent(start []byte, whole bool, opening []string) (refusal []byte, known bool) {
	if text := bytes.TrimSpace(start); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		if whole {
			return verdict(text), true
		}
		return nil, len(start) > MostUndecided
	}
	if name, _, _ := strings.Cut(string(start[:min(len(start), 8)]), ":"); !slices.ContainsFunc(fields, func(field string) bool { return strings.HasPrefix(field, name) }) {
		return nil, true
	}
	rest := bytes.ReplaceAll(bytes.ReplaceAll(start, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for {
		event, after, ended := bytes.Cut(rest, []byte("\n\n"))
		name, data := read(event)
		kind := cmp.Or(name, gjson.GetBytes(data, "type").String())
		opens := slices.Contains(opening, kind)
		switch {
		case !ended && !whole:
			return nil, !opens && kind != failed && len(rest) > MostUndecided
		case !opens:
			return verdict(data), true
		case len(after) == 0:
			return nil, whole
		}
		rest = after
	}
}

// fields begin the lines of events. llama.cpp wrote "error: {…}" for a while.
var fields = []string{"data", "error", "event", "id", "retry"}

// read returns the name and the data of an event, as far as they are there.
func read(event []byte) (name string, data []byte) {
	for line := range bytes.Lines(event) {
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); string(field) {
		case "data", "error":
			data = append(data, value...)
		case "event":
			name = string(value)
		}
	}
	return name, data
}

// verdict returns data if it is an error, and nil if it is an answer. Most answers have no
// word that an error needs under status 200, and are not looked at any further.
func verdict(data []byte) (refusal []byte) {
	marked := slices.ContainsFunc([]string{"error", "base_resp", failed, `\u`}, func(word string) bool { return bytes.Contains(data, []byte(word)) })
	if !marked && !bare(gjson.ParseBytes(data)) || len(sentences(200, data)) == 0 {
		return nil
	}
	return data
}
