package learn

import (
	"net/url"
	"strings"

	"laconic/compact"
)

// source is a place where upstreams tell the windows of their models.
type source struct {
	name string
	path string
	list bool // below the base URL, where clients ask for models too; else beside the upstream's own /v1
	cuts bool // an upstream that tells there cuts what is too long, and does not refuse it
	read func(body []byte) Windows
}

// sources are asked in this order. The list of models first: most tell there,
// and where it is refused nothing else is asked for.
var sources = []source{
	{"list of models", "/models", true, false, listedModels},
	{"llama.cpp", "/props", false, false, llamaProps},
	{"ollama", "/api/ps", false, true, ollamaLoaded},
	{"lm studio", "/api/v0/models", false, true, studioLoaded},
	{"lm studio, newer", "/api/v1/models", false, true, studioInstances},
	{"tgi", "/info", false, false, tgiInfo},
	{"litellm", "/model/info", false, false, litellmInfo},
}

// ModelsURL returns the address of an upstream's list of models.
func ModelsURL(base *url.URL) *url.URL { return sources[0].at(base) }

func (s *source) at(base *url.URL) *url.URL {
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	if !s.list {
		prefix = strings.TrimSuffix(prefix, "/v1")
	}
	at := &url.URL{Scheme: base.Scheme, Host: base.Host, RawQuery: base.RawQuery}
	at.Path, at.RawPath = prefix+s.path, ""
	if path, err := url.PathUnescape(prefix + s.path); err == nil {
		at.Path, at.RawPath = path, prefix+s.path
	}
	return at
}

// least is the smallest of those that are known.
func least(all ...int) int {
	n := 0
	for _, t := range all {
		if t > 0 && (n == 0 || t < n) {
			n = t
		}
	}
	return n
}

// listedModels reads GET /models, where vLLM, SGLang, llama-swap, OpenRouter,
// Mistral, Together, Groq and newer llama.cpp tell. llama.cpp's n_ctx_train is
// what the model was trained for, not what runs, so it is not looked at; for
// SGLang's LoRAs the field is null. Anthropic's limit is one on the prompt.
func listedModels(body []byte) Windows {
	rows := rowsOf(body) // Together's is a bare array
	if rows == nil {
		rows = fieldsOf(body).rows("data")
	}
	w := Windows{}
	for _, r := range rows {
		window := least(r.tokens("max_model_len"), r.tokens("context_length"), r.tokens("context_window"),
			r.tokens("max_context_length"), r.in("top_provider").tokens("context_length"), r.in("meta").tokens("n_ctx"))
		w.add(r.text("id"), compact.Published{Window: window, Input: r.tokens("max_input_tokens")})
	}
	return w
}

// llamaProps reads llama.cpp's GET /props: the window of one slot.
func llamaProps(body []byte) Windows {
	w := Windows{}
	w.add(whatever, compact.Published{Window: fieldsOf(body).in("default_generation_settings").tokens("n_ctx")})
	return w
}

// ollamaLoaded reads Ollama's GET /api/ps: what is loaded, with the window it
// runs with. /api/show tells another one, that of the training.
func ollamaLoaded(body []byte) Windows {
	w := Windows{}
	for _, m := range fieldsOf(body).rows("models") {
		for _, name := range []string{m.text("name"), m.text("model")} {
			w.add(name, compact.Published{Window: m.tokens("context_length")})
		}
	}
	return w
}

// studioLoaded reads LM Studio's GET /api/v0/models; what is not loaded has no
// window yet.
func studioLoaded(body []byte) Windows {
	w := Windows{}
	for _, m := range fieldsOf(body).rows("data") {
		if m.text("state") == "loaded" {
			w.add(m.text("id"), compact.Published{Window: m.tokens("loaded_context_length")})
		}
	}
	return w
}

// studioInstances reads the newer GET /api/v1/models. A model may run several
// times.
func studioInstances(body []byte) Windows {
	w := Windows{}
	for _, m := range fieldsOf(body).rows("models") {
		for _, i := range m.rows("loaded_instances") {
			w.add(m.text("key"), compact.Published{Window: i.in("config").tokens("context_length")})
		}
	}
	return w
}

// tgiInfo reads Text Generation Inference's GET /info. It holds prompt and
// answer together against max_total_tokens, and the prompt alone against a
// limit that is one below that at the most.
func tgiInfo(body []byte) Windows {
	info := fieldsOf(body)
	w := Windows{}
	w.add(whatever, compact.Published{Window: info.tokens("max_total_tokens"), Input: least(info.tokens("max_input_tokens"), info.tokens("max_input_length"))})
	return w
}

// litellmInfo reads LiteLLM's GET /model/info. A name may stand for several
// deployments. The window is not told: max_output_tokens stands beside the prompt
// for some models and within the same window for others.
func litellmInfo(body []byte) Windows {
	w := Windows{}
	for _, m := range fieldsOf(body).rows("data") {
		w.add(m.text("model_name"), compact.Published{Input: m.in("model_info").tokens("max_input_tokens")})
	}
	return w
}
