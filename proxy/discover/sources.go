package discover

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
	// runs has the name of the model that runs, or of a kind that has one vocabulary.
	runs string
}

// sources are read in this order. The list of models comes first: most publish
// there, and where it is refused no other page is asked for.
var sources = []source{
	{
		// vLLM, SGLang, llama-swap, OpenRouter, Mistral, Together (whose list is bare),
		// Groq and newer llama.cpp. For SGLang's LoRAs the field is null. Anthropic's
		// limit is one on the prompt.
		name: "list of models", path: "/models", list: true, rows: "data", names: []string{"id", "aliases"}, input: []string{"max_input_tokens"},
		window: []string{"max_model_len", "context_length", "context_window", "max_context_length", "top_provider.context_length", "meta.n_ctx"},
		runs:   "[root,id].0", // vLLM names the folder; SGLang says what it was told to
	},
	// The window of one slot.
	{name: "llama.cpp", program: llamaCpp, mark: "default_generation_settings", path: "/props", window: []string{"default_generation_settings.n_ctx"}, runs: "model_path"},
	// Loaded models, with the window they run with, which versions before 0.10 do not
	// say. /api/show has that of the training.
	{name: "ollama", program: "Ollama", mark: "models", path: "/api/ps", cuts: true, unset: 4096, rows: "models", names: []string{"name", "model"}, window: []string{"context_length"}, runs: `[details.families.#(%"qwen*"),details.families.#(%"gemma*")].0`},
	// A model that is not loaded has no window yet.
	{name: "lm studio", program: "LM Studio", mark: "data.0.state", path: "/api/v0/models", cuts: true, rows: `data.#(state=="loaded")#`, names: []string{"id"}, window: []string{"loaded_context_length"}},
	// A model may run several times.
	{name: "lm studio, newer", program: "LM Studio", mark: "models.0.loaded_instances", path: "/api/v1/models", cuts: true, rows: "models", names: []string{"key"}, window: []string{"loaded_instances.#.config.context_length"}},
	// Text Generation Inference holds prompt and answer together against
	// max_total_tokens, and the prompt alone against a limit below that.
	{name: "tgi", program: "Text Generation Inference", mark: "max_total_tokens", path: "/info", window: []string{"max_total_tokens"}, input: []string{"max_input_tokens", "max_input_length"}, runs: "model_id"},
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
	at := base.JoinPath("/")
	at.User = nil
	if !s.list && strings.HasSuffix(at.Path, "/v1/") {
		return at.JoinPath("..", s.path)
	}
	return at.JoinPath(s.path)
}

// read adds the windows of a page to f, and the models that a list names. A row that
// cannot be read does not cost the others.
func (s *source) read(body []byte, f *Found) {
	page := gjson.ParseBytes(body)
	rows := []gjson.Result{page}
	if s.rows != "" {
		if page.IsObject() {
			page = page.Get(s.rows)
		}
		rows = page.Array()
	}
	for i, row := range rows {
		limits := compact.Published{Window: smallest(row, s.window), Input: smallest(row, s.input)}
		if s.program == llamaCpp { // older ones do not say what their chat template leaves out
			limits.NoTools = row.Get("chat_template_caps.supports_tools").Type == gjson.False
			limits.NoCalls = limits.NoTools && row.Get("chat_template_caps.supports_tool_calls").Type == gjson.False
		}
		owner := owners[row.Get("owned_by").String()]
		if s.list && i == 0 {
			f.Program = owner
		}
		own := s.list && owner == llamaCpp
		if own {
			limits = compact.Published{Window: compact.Lower(smallest(row, []string{"meta.n_ctx"}), startedWith(row))}
		}
		if limits != (compact.Published{}) || own && len(rows) == 1 {
			limits.Runs = compact.Runs{Name: row.Get(s.runs).String(), Vocabulary: int(row.Get("meta.n_vocab").Int()), Template: row.Get("chat_template").String()}
		}
		if s.rows == "" || own && len(rows) == 1 {
			f.Windows.add(anyModel, limits) // llama.cpp serves the one that it has loaded under every name
		}
		for nth, path := range s.names {
			for _, name := range row.Get(path).Array() {
				if name.Type != gjson.String || name.String() == "" {
					continue
				}
				if s.list && nth == 0 {
					f.Models = append(f.Models, name.String())
				}
				if !own || len(rows) > 1 {
					f.Windows.add(name.String(), limits)
				}
			}
		}
	}
}

// contextSize is the argument of llama.cpp that sets the window of a model.
var contextSize = regexp.MustCompile(`"(?:--ctx-size|-c)", ?"(\d+)"`)

// startedWith returns the window with which a model in a list of llama.cpp's is
// started, 0 where its arguments set none. Before it is started, its context_length
// is what the model was trained for.
func startedWith(row gjson.Result) (n int) {
	if size := contextSize.FindStringSubmatch(row.Get("status.args").Raw); size != nil {
		n, _ = strconv.Atoi(size[1])
	}
	return compact.Credible(n)
}

// smallest returns the smallest number of tokens in some fields of a row, which may
// be lists, or numbers as strings; 0 without any.
func smallest(row gjson.Result, paths []string) (n int) {
	for _, path := range paths {
		for _, v := range row.Get(path).Array() {
			n = compact.Lower(n, compact.Credible(int(v.Float()))) // NaN and what is too large is no number that is
		}
	}
	return n
}
