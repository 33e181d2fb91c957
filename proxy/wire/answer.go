package wire

import (
	"bytes"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"laconic/proxy/overflow"
)

// api is what differs in the answers of APIs, and no more than that.
type api struct {
	name       string
	events     overflow.Events // of a stream
	completion string          // the key under which usage counts what was generated
	model      string          // path of the model in an event that names it
}

// Name returns the API's name in logs, metrics and the keys of what is learnt.
func (w *api) Name() string { return w.name }

// FirstEvent reports whether an answer with status 200 begins with an error.
func (w *api) FirstEvent(start []byte, whole bool) (overflow.Begins, []byte) {
	return overflow.FirstEvent(start, whole, w.events)
}

// Refusal reads an error.
func (w *api) Refusal(status int, text []byte) Refusal {
	said := overflow.Read(status, text)
	r := Refusal{Size: said.Size(), Template: said.Template(), Thinking: said.Thinking()}
	for v := range valuesOf(w.completion, text) {
		r.Generated = r.Generated || gjson.Parse(lent(v)).Num > 0
	}
	return r
}

// AnsweredBy finds the model in the start of a stream, or at the top of a whole answer:
// a key further down could be of what was generated.
func (w *api) AnsweredBy(a Answer) string {
	if !a.Stream {
		if !a.Whole {
			return ""
		}
		model, _ := Model(a.Tail)
		return model
	}
	for line := range bytes.Lines(a.Head) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			// The last line may be cut off: gjson reads what comes before.
			if model := gjson.GetBytes(data, w.model); model.Type == gjson.String && model.Str != "" {
				return strings.Clone(model.Str)
			}
		}
	}
	return ""
}

// flaw names what is wrong with an answer that ended for the reason stop. done: a
// stream says that it is complete. silent: it has nothing of an answer.
func (a *Answer) flaw(stop string, u *Usage, done, silent bool) string {
	switch {
	case stop == "model_context_window_exceeded":
		return AtWindow
	case (stop == "length" || stop == "max_tokens") && u != nil && u.Prompt > 0 && u.Completion == 0:
		return BeforeOutput
	case a.Stream && !done && endsInEvent(a.Tail):
		return HalfEvent
	case a.Stream && !done:
		return WithoutDone
	case a.Stream && a.Whole && silent && stop == "":
		return Empty
	}
	return ""
}

// endsInEvent reports whether more than comments follows the last empty line of a
// stream: no client sees an event before the empty line that ends it.
func endsInEvent(text []byte) bool {
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if i := bytes.LastIndex(text, []byte("\n\n")); i >= 0 {
		text = text[i:]
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) > 0 && line[0] != ':' {
			return true
		}
	}
	return false
}

// lastEvent returns the data of the last event of a stream, as far as it is there.
func lastEvent(text []byte) []byte {
	i := bytes.LastIndex(text, []byte("data:"))
	if i < 0 {
		return nil
	}
	return bytes.TrimLeft(text[i+len("data:"):], " ")
}

// failed reports whether a text says that an answer failed.
func failed(text []byte) bool {
	for _, said := range []string{`"error":{`, `"error": {`, `"error":"`, `"error": "`} {
		if bytes.Contains(text, []byte(said)) {
			return true
		}
	}
	return false
}

// lastString returns the last string under a key in the end of an answer.
func lastString(key string, text []byte) string {
	for value := range valuesOf(key, text) {
		if v := gjson.Parse(lent(value)); v.Type == gjson.String {
			return strings.Clone(v.Str)
		}
	}
	return ""
}

// usageIn reads the last usage object in a part of an answer that counts the prompt
// under a key, nil if there is none. What came from a cache stands under some paths.
func (w *api) usageIn(text []byte, prompt string, cached ...string) *Usage {
	for o := range usagesIn(text) {
		if o.Get(prompt).Type != gjson.Number {
			continue // null in every chunk but the last
		}
		u := &Usage{Prompt: count(o, prompt), Completion: count(o, w.completion)}
		for _, path := range cached {
			u.Cached = max(u.Cached, count(o, path))
		}
		return u
	}
	return nil
}

// count reads a number of tokens; 0 where there is none.
func count(o gjson.Result, path string) int {
	if n := o.Get(path); n.Type == gjson.Number {
		return int(max(0, min(n.Num, 1<<31-1)))
	}
	return 0
}

// usagesIn returns the usage objects in a part of an answer, the last one first.
func usagesIn(text []byte) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		for value := range valuesOf("usage", text) {
			whole, err := jsontext.NewDecoder(bytes.NewBuffer(value)).ReadValue()
			if err == nil && whole.Kind() == '{' && !yield(gjson.Parse(lent(whole))) {
				return
			}
		}
	}
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
