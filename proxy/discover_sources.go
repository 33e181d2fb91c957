package proxy

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// source is a place where upstreams tell the windows of their models.
type source struct {
	name string
	path string
	list bool // below the base URL, where clients ask for models too; else beside the upstream's own /v1
	read func(body []byte) Windows
}

// sources are asked in this order. The list of models first: most tell there,
// and where it is refused nothing else is asked for.
var sources = []source{
	{"list of models", "/models", true, listedModels},
	{"llama.cpp", "/props", false, llamaProps},
	{"ollama", "/api/ps", false, ollamaLoaded},
	{"lm studio", "/api/v0/models", false, studioLoaded},
	{"lm studio, newer", "/api/v1/models", false, studioInstances},
	{"tgi", "/info", false, tgiInfo},
	{"litellm", "/model/info", false, litellmInfo},
}

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

// tokens is a number that may be null, a string, or something else altogether,
// which counts as 0.
type tokens int

// UnmarshalJSON never fails.
func (t *tokens) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && f > 0 && f <= mostBelieved {
		*t = tokens(f)
	}
	return nil
}

// least is the smallest of those that are known.
func least(all ...tokens) int {
	n := 0
	for _, t := range all {
		if t > 0 && (n == 0 || int(t) < n) {
			n = int(t)
		}
	}
	return n
}

// listedModels reads GET /models, where vLLM, SGLang, llama-swap, OpenRouter,
// Mistral, Together, Groq and newer llama.cpp tell. llama.cpp's n_ctx_train is
// what the model was trained for, not what runs, so it is not looked at; for
// SGLang's LoRAs the field is null.
func listedModels(body []byte) Windows {
	type row struct {
		ID               string `json:"id"`
		MaxModelLen      tokens `json:"max_model_len"`
		ContextLength    tokens `json:"context_length"`
		ContextWindow    tokens `json:"context_window"`
		MaxContextLength tokens `json:"max_context_length"`
		MaxInputTokens   tokens `json:"max_input_tokens"`
		TopProvider      struct {
			ContextLength tokens `json:"context_length"`
		} `json:"top_provider"`
		Meta struct {
			Loaded tokens `json:"n_ctx"`
		} `json:"meta"`
	}
	var list struct {
		Data []row `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil && json.Unmarshal(body, &list.Data) != nil { // Together's is a bare array
		return nil
	}
	w := Windows{}
	for _, r := range list.Data {
		n := least(r.MaxModelLen, r.ContextLength, r.ContextWindow, r.MaxContextLength, r.MaxInputTokens, r.TopProvider.ContextLength, r.Meta.Loaded)
		if n > 0 && r.ID != "" {
			w[r.ID] = n
		}
	}
	return w
}

// llamaProps reads llama.cpp's GET /props: the window of one slot.
func llamaProps(body []byte) Windows {
	var props struct {
		Settings struct {
			Window tokens `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if json.Unmarshal(body, &props) != nil {
		return nil
	}
	return Windows{whatever: int(props.Settings.Window)}
}

// ollamaLoaded reads Ollama's GET /api/ps: what is loaded, with the window it
// runs with. /api/show tells another one, that of the training.
func ollamaLoaded(body []byte) Windows {
	var ps struct {
		Models []struct {
			Name   string `json:"name"`
			Model  string `json:"model"`
			Window tokens `json:"context_length"`
		} `json:"models"`
	}
	if json.Unmarshal(body, &ps) != nil {
		return nil
	}
	w := Windows{}
	for _, m := range ps.Models {
		w[m.Name], w[m.Model] = int(m.Window), int(m.Window)
	}
	return w
}

// studioLoaded reads LM Studio's GET /api/v0/models; what is not loaded has no
// window yet.
func studioLoaded(body []byte) Windows {
	var list struct {
		Data []struct {
			ID     string `json:"id"`
			State  string `json:"state"`
			Loaded tokens `json:"loaded_context_length"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	w := Windows{}
	for _, m := range list.Data {
		if m.State == "loaded" {
			w[m.ID] = int(m.Loaded)
		}
	}
	return w
}

// studioInstances reads the newer GET /api/v1/models. A model may run several
// times: the smallest counts.
func studioInstances(body []byte) Windows {
	var list struct {
		Models []struct {
			Key       string `json:"key"`
			Instances []struct {
				Config struct {
					Window tokens `json:"context_length"`
				} `json:"config"`
			} `json:"loaded_instances"`
		} `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	w := Windows{}
	for _, m := range list.Models {
		var all []tokens
		for _, i := range m.Instances {
			all = append(all, i.Config.Window)
		}
		w[m.Key] = least(all...)
	}
	return w
}

// tgiInfo reads Text Generation Inference's GET /info. It holds prompt and
// answer together against max_total_tokens, and the prompt alone against a
// limit that is one below that at the most.
func tgiInfo(body []byte) Windows {
	var info struct {
		Total    tokens `json:"max_total_tokens"`
		Input    tokens `json:"max_input_tokens"`
		InputOld tokens `json:"max_input_length"`
	}
	if json.Unmarshal(body, &info) != nil {
		return nil
	}
	return Windows{whatever: least(info.Total, info.Input, info.InputOld)}
}

// litellmInfo reads LiteLLM's GET /model/info. A name may stand for several
// deployments: the smallest counts.
func litellmInfo(body []byte) Windows {
	var info struct {
		Data []struct {
			Name string `json:"model_name"`
			Info struct {
				Input tokens `json:"max_input_tokens"`
			} `json:"model_info"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &info) != nil {
		return nil
	}
	w := Windows{}
	for _, m := range info.Data {
		w[m.Name] = least(tokens(w[m.Name]), m.Info.Input)
	}
	return w
}
