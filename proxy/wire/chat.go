package wire

import (
	"bytes"

	"laconic/proxy/overflow"
)

// chat is the API of chat completions.
type chat struct{ api }

// Chat is the API of chat completions, as OpenAI and all who are compatible with
// it speak it.
var Chat Wire = &chat{api{
	name: "chat", completion: "completion_tokens", model: "model",
	// What was generated is under OpenAI's key or Gemini's.
	events: overflow.Events{Generated: []string{"choices", "candidates"}},
}}

func (w *chat) End(a Answer) End {
	e := End{Usage: w.usageIn(a.Tail, "prompt_tokens", "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens")} // DeepSeek
	e.Done = a.Stream && done(a.Tail)
	e.Flaw = a.flaw(lastString("finish_reason", a.Tail), e.Usage, e.Done,
		!bytes.Contains(a.Tail, []byte(`"delta"`)) && !bytes.Contains(a.Tail, []byte(`"error"`)))
	e.Generated = !failed(a.Tail) && (bytes.Contains(a.Tail, []byte(`"choices"`)) || bytes.Contains(a.Tail, []byte(`"finish_reason"`)))
	return e
}

// done reports whether an event stream says that it is complete.
func done(text []byte) bool { return bytes.HasPrefix(lastEvent(text), []byte("[DONE]")) }
