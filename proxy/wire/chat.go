package wire

import (
	"bytes"
	"iter"
	"strings"

	"laconic/proxy/overflow"
)

// chat is the API of chat completions.
type chat struct{}

// Chat is the API of chat completions, as OpenAI and all who are compatible with
// it speak it.
var Chat Wire = chat{}

func (chat) Name() string { return "chat" }

// chatEvents are the events of a stream. What was generated is under OpenAI's key or
// Gemini's.
var chatEvents = overflow.Events{Generated: []string{"choices", "candidates"}}

func (chat) FirstEvent(start []byte, whole bool) (overflow.Begins, []byte) {
	return overflow.FirstEvent(start, whole, chatEvents)
}

func (chat) Refusal(status int, text []byte) Refusal {
	return refusalOf(status, text, "completion_tokens")
}

// refusalOf reads an error. generated is the key under which usage counts what was
// generated.
func refusalOf(status int, text []byte, generated string) Refusal {
	said := overflow.Read(status, text)
	return Refusal{Size: said.Size(), Template: said.Template(), Thinking: said.Thinking(), Generated: counts(text, generated)}
}

func (chat) End(a Answer) End {
	usage := usageIn(a.Tail)
	return End{
		Usage: usage, Done: a.Stream && done(a.Tail), Flaw: flawIn(a.Tail, usage, a.Stream, a.Whole), Generated: endsAnswer(a.Tail),
	}
}

// flawIn names what is wrong with an answer, by the end of its text.
func flawIn(text []byte, u *Usage, stream, whole bool) string {
	switch finish := lastString("finish_reason", text); {
	case finish == "model_context_window_exceeded":
		return AtWindow
	case finish == "length" && u != nil && u.Prompt > 0 && u.Completion == 0:
		return BeforeOutput
	case stream && !done(text) && endsInEvent(text):
		return HalfEvent
	case stream && !done(text):
		return WithoutDone
	case stream && whole && finish == "" && !bytes.Contains(text, []byte(`"delta"`)) && !bytes.Contains(text, []byte(`"error"`)):
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

// endsAnswer reports whether a text is the end of an answer, and not of an error
// that came behind the first event.
func endsAnswer(text []byte) bool {
	for _, failed := range []string{`"error":{`, `"error": {`, `"error":"`, `"error": "`} {
		if bytes.Contains(text, []byte(failed)) {
			return false
		}
	}
	return bytes.Contains(text, []byte(`"choices"`)) || bytes.Contains(text, []byte(`"finish_reason"`))
}

// lastString returns the last string under a key in the end of an answer.
func lastString(key string, text []byte) string {
	for value := range valuesOf(key, text) {
		s := scanner{src: value}
		s.space()
		if v, ok := s.value(); ok && v.kind == '"' {
			return strings.Clone(s.str(v))
		}
	}
	return ""
}

// AnsweredBy reads whole objects only: a key further down could be of what was
// generated.
func (chat) AnsweredBy(a Answer) string {
	if a.Stream {
		return lastModel(a.Tail)
	}
	return wholeModel(a)
}

// wholeModel returns the model that an answer names which is no stream, "" where not
// all of the answer was kept.
func wholeModel(a Answer) string {
	if !a.Whole {
		return ""
	}
	model, _ := Model(a.Tail)
	return model
}

// lastModel returns the model of the last event that names one, in the end of a
// stream.
func lastModel(text []byte) string {
	data := []byte("data:")
	for i := bytes.LastIndex(text, data); i >= 0; i = bytes.LastIndex(text[:i], data) {
		if i > 0 && text[i-1] != '\n' && text[i-1] != '\r' {
			continue
		}
		line, _, _ := bytes.Cut(text[i+len(data):], []byte("\n"))
		if model, err := Model(bytes.TrimSpace(line)); err == nil && model != "" {
			return model
		}
	}
	return ""
}

// done reports whether an event stream says that it is complete.
func done(text []byte) bool {
	i := bytes.LastIndex(text, []byte("data:"))
	return i >= 0 && bytes.HasPrefix(bytes.TrimLeft(text[i+len("data:"):], " "), []byte("[DONE]"))
}

// usageIn returns the last usage object in the end of an answer, nil if there is
// none.
func usageIn(text []byte) *Usage {
	for value := range valuesOf("usage", text) {
		if u, ok := readUsage(value); ok { // null in every chunk but the last
			return &u
		}
	}
	return nil
}

// readUsage reads the usage object with which a text begins, and reports whether
// there is one.
func readUsage(text []byte) (u Usage, ok bool) {
	s := scanner{src: text, names: make([]string, 0, 16)}
	if s.space(); s.peek() != '{' {
		return u, false
	}
	var o object
	for s.key(&o) {
		if o.name == "prompt_tokens_details" && s.peek() == '{' {
			var details object
			for s.key(&details) {
				v, _ := s.value()
				if details.name == "cached_tokens" {
					u.Cached = max(u.Cached, s.wholeNumber(v))
				}
			}
			continue
		}
		v, _ := s.value()
		switch o.name {
		case "prompt_tokens":
			u.Prompt, ok = s.wholeNumber(v), isDigit(v.kind)
		case "completion_tokens":
			u.Completion = s.wholeNumber(v)
		case "prompt_cache_hit_tokens": // DeepSeek
			u.Cached = max(u.Cached, s.wholeNumber(v))
		}
	}
	return u, ok && s.err == nil
}

// counts reports whether a text has a number above 0 under a key.
func counts(text []byte, key string) bool {
	for value := range valuesOf(key, text) {
		s := scanner{src: value}
		s.space()
		if v, ok := s.value(); ok && s.wholeNumber(v) > 0 {
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
