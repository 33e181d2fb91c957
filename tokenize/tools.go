package tokenize

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Tools returns the cost of the tools of a request, or of its legacy functions, as raw JSON. Empty, null, [] and {} cost
// nothing. For OpenAI's models it is the known formula (functions.go), for models behind a chat template what that
// makes of the list, else the count of the JSON.
func (c *Counter) Tools(raw []byte) int {
	if empty(raw) {
		return 0
	}
	f := &c.text.framing
	switch {
	case f.function > 0:
		return c.functions(raw)
	case f.template:
		t := templateOf(c.family.name)
		if len(raw) > longestTools {
			t.indent = 0
		}
		return t.page + ceilDiv(c.text.count(laidOut(raw, t.indent))*t.percent, 100)
	}
	return c.json(raw) + f.tools
}

// Format returns the cost of response_format as raw JSON: that of its text without white space. Empty, null, {} and
// {"type":"text"} cost nothing. The JSON is not validated.
func (c *Counter) Format(raw []byte) int {
	const plain = `{"type":"text"}`
	if empty(raw) || len(raw) < 4*len(plain) && string(compactJSON(raw)) == plain {
		return 0
	}
	return c.json(raw)
}

// empty reports whether a JSON text holds nothing. Longer ones with nothing but blanks cost a little.
func empty(raw []byte) bool {
	return len(raw) <= 64 && slices.Contains([]string{"", "null", "[]", "{}"}, string(compactJSON(raw)))
}

// json returns the cost of a JSON text without its white space.
func (c *Counter) json(raw []byte) int { return c.text.count(compactJSON(raw)) }

// compactJSON returns a JSON text without the white space outside its strings, and any other text as it is.
func compactJSON(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// template is how a chat template shows tools and their results to its model.
type template struct {
	families string // patterns on the names of families, separated by blanks
	indent   int    // blanks for each level, a line for each element; 0: one line, a blank behind each comma and colon
	page     int    // tokens of the instructions around the list
	percent  int    // of what the list costs as JSON
	quotes   bool   // results, as strings of JSON
	mute     bool   // what an assistant says beside calls is left out
}

// templates are those of three vendors, as their repositories publish them. The last row is for models whose template
// is not known: the layout that Qwen's and Mistral's share, which adds 5 to 8 % of tokens to the JSON of two agents' tools,
// and a page between the two.
var templates = []template{
	// Qwen3-Coder writes tools as XML, below a longer page: four agents' tools cost 935, 249, 1,212 and 2,966 tokens behind a
	// llama.cpp with its vocabulary and template, where their JSON costs 644, 67, 976 and 2,552.
	{families: "qwen3-coder", page: 180, percent: 109},
	// Qwen: github.com/QwenLM/Qwen-Agent, qwen_agent/llm/fncall_prompts/nous_fncall_prompt.py, FN_CALL_TEMPLATE; commit 31a4d36.
	// Each tool is a line of json.dumps; the page has 86 tokens.
	{families: "qwen* deepseek-qwen", page: 86, percent: 100},
	// Llama: github.com/meta-llama/llama-models, models/llama3_1/prompt_format.md, "JSON based tool calling"; commit a9c89c4. The
	// tools are indented by four blanks; the page has 44 tokens. The templates on Hugging Face write a result by tojson, and a
	// llama.cpp with that of 3.1 counts it so.
	{families: "llama-3.1 llama-4", indent: 4, page: 44, percent: 100, quotes: true, mute: true},
	// Hermes 3 adds a signature to each description, and the schema of a call.
	{families: "llama-tuned", page: 180, percent: 120, mute: true},
	// Mistral: github.com/mistralai/mistral-common, src/mistral_common/tokens/tokenizers/instruct.py, encode_user_message; commit
	// bc022b9. The list is json.dumps between two marks.
	{families: "mixtral* mistral* magistral* pixtral*", page: 2, percent: 100},
	// Gemma 4 writes declarations with a mark of one token in the place of quotes, and no page: the same agents' tools cost 518,
	// 49, 949 and 2,340 tokens behind a llama.cpp, where their JSON costs 659, 68, 1,008 and 2,621.
	{families: "gemma", percent: 85},
	// Phi-3 and Phi-3.5 leave tools out: github.com/ggml-org/llama.cpp, models/templates/microsoft-Phi-3.5-mini-instruct.jinja.
	{families: "phi-3*"},
	{families: "*", page: 44, percent: 100},
}

// templateOf returns the row of a family.
func templateOf(family string) template {
	return templates[slices.IndexFunc(templates, func(t template) bool { return matches(t.families, family) })]
}

// Quotes reports whether the template of the model's family writes results as strings of JSON.
func (c *Counter) Quotes() bool {
	return c.text.framing.template && templateOf(c.family.name).quotes
}

// Mute reports whether the template of the model's family leaves out what an assistant says beside its calls.
func (c *Counter) Mute() bool {
	return c.text.framing.template && templateOf(c.family.name).mute
}

// deepest is the deepest nesting that is indented: so the text grows in proportion to the list, however it nests.
const deepest = 64

// laidOut returns a JSON text in the layout of Python's json.dumps, with that indent; 0 for one line. A text that is not
// JSON stays as it is.
func laidOut(raw []byte, indent int) []byte {
	level, most := 0, 0
	for _, b := range raw {
		switch b {
		case '{', '[':
			level++
			most = max(most, level)
		case '}', ']':
			level--
		}
	}
	if most > deepest {
		indent = 0
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", strings.Repeat(" ", indent)) != nil {
		return raw
	}
	if indent > 0 {
		return bytes.TrimSpace(b.Bytes())
	}
	// No string of JSON holds a line end.
	line := bytes.ReplaceAll(b.Bytes(), []byte(",\n"), []byte(", "))
	return bytes.ReplaceAll(line, []byte("\n"), nil)
}
