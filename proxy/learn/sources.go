package learn

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

// source is a page where upstreams publish the windows of their models. Its
// fields are paths of gjson.
type source struct {
	name string
	path string
	list bool // below the base URL, where clients ask for models too; else beside the upstream's own /v1
	cuts bool // an upstream with this page cuts what is too long, and does not refuse it
	// unset is the window that it has unless it is told otherwise, in tokens.
	unset int
	// program is the one whose page this is, and mark is on its page alone; "": many
	// have such a page.
	program, mark string
	// rows are the models; "": the page describes the one model that is loaded.
	rows  string
	names []string // of a row, and lists of names
	// window and input are the limits of a row, of which the smallest counts.
	window, input []string
}

// llamaCppPage is the place of llama.cpp's own page.
const llamaCppPage = 1

// sources are read in this order. The list of models comes first: most publish
// there, and where it is refused no other page is asked for.
var sources = []source{
	{
		// vLLM, SGLang, llama-swap, OpenRouter, Mistral, Together (whose list is bare),
		// Groq and newer llama.cpp. For SGLang's LoRAs the field is null. Anthropic's
		// limit is one on the prompt.
		name: "list of models", path: "/models", list: true, rows: "data", names: []string{"id", "aliases"}, input: []string{"max_input_tokens"},
		window: []string{"max_model_len", "context_length", "context_window", "max_context_length", "top_provider.context_length", "meta.n_ctx"},
	},
	// The window of one slot.
	{name: "llama.cpp", program: llamaCpp, mark: "default_generation_settings", path: "/props", window: []string{"default_generation_settings.n_ctx"}},
	// What is loaded, with the window it runs with, which versions before 0.10 do not
	// say. /api/show has that of the training.
	{name: "ollama", program: "Ollama", mark: "models", path: "/api/ps", cuts: true, unset: 4096, rows: "models", names: []string{"name", "model"}, window: []string{"context_length"}},
	// What is not loaded has no window yet.
	{name: "lm studio", program: "LM Studio", mark: "data.0.state", path: "/api/v0/models", cuts: true, rows: `data.#(state=="loaded")#`, names: []string{"id"}, window: []string{"loaded_context_length"}},
	// A model may run several times.
	{name: "lm studio, newer", program: "LM Studio", mark: "models.0.loaded_instances", path: "/api/v1/models", cuts: true, rows: "models", names: []string{"key"}, window: []string{"loaded_instances.#.config.context_length"}},
	// Text Generation Inference holds prompt and answer together against
	// max_total_tokens, and the prompt alone against a limit below that.
	{name: "tgi", program: "Text Generation Inference", mark: "max_total_tokens", path: "/info", window: []string{"max_total_tokens"}, input: []string{"max_input_tokens", "max_input_length"}},
	// A name may be that of several deployments. The page has no window:
	// max_output_tokens is beside the prompt for some models and within the same
	// window for others.
	{name: "litellm", program: "LiteLLM", mark: "data.0.model_info", path: "/model/info", rows: "data", names: []string{"model_name"}, input: []string{"model_info.max_input_tokens"}},
}

// apiVersion is the part of a base URL that says which API it is: /v1, /v1beta.
var apiVersion = regexp.MustCompile(`/v\d`)

// Versioned reports whether a base URL says which version of an API it is for.
func Versioned(base *url.URL) bool { return apiVersion.MatchString(base.Path) }

// ModelsURL returns the address of an upstream's list of models.
func ModelsURL(base *url.URL) *url.URL { return sources[0].at(base) }

// at returns the address of the page at an upstream.
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

// read returns the windows of a page. A row that cannot be read does not cost the
// others.
func (s *source) read(body []byte) Windows {
	page := gjson.ParseBytes(body)
	rows := []gjson.Result{page}
	if s.rows != "" && page.IsObject() {
		rows = page.Get(s.rows).Array()
	} else if s.rows != "" {
		rows = page.Array()
	}
	w := Windows{}
	for _, row := range rows {
		limits := compact.Published{Window: smallest(row, s.window), Input: smallest(row, s.input)}
		if s.program == llamaCpp {
			limits.NoTools, limits.NoCalls = leftOut(body)
		}
		own := s.list && owners[row.Get("owned_by").String()] == llamaCpp
		if own {
			limits = compact.Published{Window: lower(smallest(row, []string{"meta.n_ctx"}), startedWith(row))}
		}
		if s.rows == "" || own && len(rows) == 1 {
			w.add(anyModel, limits) // llama.cpp serves the one that it has loaded under every name
		}
		for _, path := range s.names {
			for _, name := range row.Get(path).Array() {
				if name.Type == gjson.String {
					w.add(name.String(), limits)
				}
			}
		}
	}
	return w
}

// models returns the models that a list names, and the program that it says it is of.
func (s *source) models(body []byte) (all []string, program string) {
	page := gjson.ParseBytes(body)
	for _, id := range page.Get(s.rows + ".#.id").Array() {
		if id.Type == gjson.String && id.String() != "" {
			all = append(all, id.String())
		}
	}
	return all, owners[page.Get(s.rows+".0.owned_by").String()]
}

// leftOut reports whether the chat template of a llama.cpp leaves out tools, and
// calls with their results, too. Older ones do not say.
func leftOut(page []byte) (tools, calls bool) {
	no := func(what string) bool {
		return gjson.GetBytes(page, "chat_template_caps.supports_"+what).Type == gjson.False
	}
	tools = no("tools")
	return tools, tools && no("tool_calls")
}

// startedWith returns the window with which a model in a list of llama.cpp's is
// started, 0 where its arguments set none. Before it is started, its context_length
// is what the model was trained for.
func startedWith(row gjson.Result) (n int) {
	args := row.Get("status.args").Array()
	for i := range args[:max(0, len(args)-1)] {
		if name := args[i].String(); name == "--ctx-size" || name == "-c" {
			n, _ = strconv.Atoi(args[i+1].String())
		}
	}
	return max(n, 0)
}

// smallest returns the smallest number of tokens in some fields of a row, which may
// be lists; 0 without any. Some upstreams write numbers as strings.
func smallest(row gjson.Result, paths []string) (n int) {
	for _, path := range paths {
		for _, v := range row.Get(path).Array() {
			if f, err := strconv.ParseFloat(strings.Trim(v.Raw, `"`), 64); err == nil && f >= 1 && f <= mostBelieved { // "NaN" is a number, too
				n = lower(n, int(f))
			}
		}
	}
	return n
}
