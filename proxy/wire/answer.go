package wire

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"laconic/proxy/overflow"
)

// api is what differs in the answers of APIs, and no more than that.
type api struct {
	name    string
	opening []string // types of events before the one that decides
	model   string   // path of the model in an event that names it
	last    string   // what the last event of a stream says; "": [DONE]
	stop    string   // the key of the reason for which an answer ended
	piece   string   // what a stream with anything generated has
	apart   bool     // tokens of a cache are not among those of the input
}

// Name returns the API's name in logs, metrics and the keys of what is learnt.
func (w *api) Name() string { return w.name }

// FirstEvent returns the error that an answer with status 200 begins with, if that is known.
func (w *api) FirstEvent(start []byte, whole bool) (refusal []byte, known bool) {
	return overflow.FirstEvent(start, whole, w.opening)
}

// Refusal reads an error.
func (w *api) Refusal(status int, text []byte) Refusal {
	said := overflow.Read(status, text)
	r := Refusal{Size: said.Size(), Template: said.Template()}
	if r.Template.OfThinking() {
		r.Thinking, r.Template = r.Template, overflow.TemplateTaken
	}
	for _, key := range []string{"completion_tokens", "output_tokens"} {
		for v := range valuesOf(key, text) {
			r.Generated = r.Generated || gjson.Parse(lent(v)).Num > 0
		}
	}
	return r
}

// AnsweredBy finds the model in the start of a stream, or at the top of a whole answer:
// a key further down could be of what was generated.
func (w *api) AnsweredBy(a Answer) string {
	if a.Whole && !a.Stream {
		model, _ := Model(a.Tail)
		return model
	}
	for line := range bytes.Lines(a.Head) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && a.Stream {
			// The last line may be cut off: gjson reads what comes before.
			if model := gjson.GetBytes(data, w.model); model.Type == gjson.String && model.Str != "" {
				return strings.Clone(model.Str)
			}
		}
	}
	return ""
}

// End reads how an answer with status 200 ended.
func (w *api) End(a Answer) End {
	has := func(text []byte, words string) bool { return bytes.Contains(text, []byte(words)) }
	last, stop := lastEvent(a.Tail), ""
	for value := range valuesOf(w.stop, a.Tail) { // the last string
		if v := gjson.Parse(lent(value)); v.Type == gjson.String {
			stop = strings.Clone(v.Str)
			break
		}
	}
	broke := slices.ContainsFunc([]string{`"error":{`, `"error": {`, `"error":"`, `"error": "`}, func(said string) bool { return has(a.Tail, said) })
	ended := w.last != "" && has(last, w.last)
	e := End{Usage: w.usage(a), Done: a.Stream && (ended || bytes.HasPrefix(last, []byte("[DONE]")))}
	e.Flaw = a.flaw(stop, e.Usage, e.Done, !broke && !has(a.Tail, w.piece))
	e.Generated = !broke && (has(a.Tail, `"`+w.stop+`"`) || has(a.Tail, `"choices"`) || ended)
	return e
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
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return len(line) > 0 && line[0] != ':' })
}

// lastEvent returns the data of the last event of a stream, as far as it is there.
func lastEvent(text []byte) []byte {
	i := bytes.LastIndex(text, []byte("data:"))
	if i < 0 {
		return nil
	}
	return bytes.TrimLeft(text[i+len("data:"):], " ")
}

// counts are the paths of numbers in usage objects, of all APIs: the prompt, what was
// written to a cache, what came from one, beside the prompt or within it, and what was
// generated.
var counts = [...][]string{
	{"prompt_tokens", "input_tokens"},
	{"cache_creation_input_tokens"},
	{"cache_read_input_tokens"},
	{"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "prompt_cache_hit_tokens"}, // the last: DeepSeek
	{"completion_tokens", "output_tokens"},
}

// usage returns what an answer cost, nil if it states nothing: each count by the last
// usage object that states it. Anthropic's streams state the prompt in the first event,
// and Ollama's first is a guess. A whole answer has one, which is the last.
func (w *api) usage(a Answer) *Usage {
	var n [len(counts)]int
	cacheStated := false
	for _, text := range [][]byte{a.Tail, a.Head} {
		for o := range objects("usage", text) {
			stated := false
			for i, paths := range counts {
				for _, path := range paths {
					c := count(o, path)
					cacheStated = cacheStated || (i == 2 || i == 3) && o.Get(path).Type == gjson.Number
					if stated = stated || c > 0; n[i] == 0 {
						n[i] = c
					}
				}
			}
			if stated && !a.Stream {
				break
			}
		}
	}
	u := &Usage{Prompt: n[0], Completion: n[4], Cached: n[3]}
	if w.apart {
		u.Prompt, u.Cached = n[0]+n[1]+n[2], n[2]
	}
	if *u == (Usage{}) {
		return timed(a.Tail)
	}
	u.CacheStated = cacheStated
	return u
}

// timed returns what the timings of llama.cpp count, which it states in streams without
// usage too: what was evaluated of a prompt and, unless it is old, what was cached.
func timed(text []byte) *Usage {
	for o := range objects("timings", text) {
		if o.Get("cache_n").Type == gjson.Number {
			n := count(o, "cache_n")
			return &Usage{n + count(o, "prompt_n"), count(o, "predicted_n"), n, true}
		}
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

// objects returns the objects under a key in a part of an answer, the last one first.
func objects(key string, text []byte) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		for value := range valuesOf(key, text) {
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
