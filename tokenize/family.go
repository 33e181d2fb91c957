package tokenize

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// family has what models of one kind share: one row of the table.
type family struct {
	name   string
	match  string // patterns on the model's name, separated by blanks; * matches any run, ? one character
	text   *tokenizer
	image  picture // how a picture is charged
	audio  int     // tokens per second of sound
	page   int     // tokens per page of a PDF; 0: text and picture of the page (file.go)
	window int     // context window in tokens; 0: not known
	input  int     // prompt limit below the window; 0: none
}

// longestModel bounds how much of a model's name is looked at: it comes from the client.
const longestModel = 128

// familyOf finds the row of a model: the first whose patterns match the name or the name without its vendor.
// The last row matches everything.
func familyOf(model string) *family {
	model = lastOfPath(model)
	model = strings.ToLower(model[:min(len(model), longestModel)])
	names := []string{dotted(model)}
	// A vendor, region or "ft" may be in front of it: "us.anthropic.claude-3-haiku" (Bedrock), "openai:gpt-4o"
	// (LangChain), "ft:gpt-4o-mini:acme::7" (fine-tuned). Behind the dot of "gpt-4.1" or "llama3:8b" is no model's name.
	for i := strings.IndexAny(model, ".:"); i >= 0 && len(names) < 4; i = strings.IndexAny(model, ".:") {
		model = model[i+1:]
		names = append(names, dotted(model))
	}
	return &families[slices.IndexFunc(families, func(f family) bool { return matches(f.match, names...) })]
}

// lastOfPath returns the name of a model in a path: "openai/gpt-4o", "models/gemini-pro", "C:\models\Qwen3-8B.gguf". Fireworks
// puts the deployment behind it: "accounts/fireworks/models/gpt-oss-120b#accounts/me/deployments/abc".
func lastOfPath(model string) string {
	const separators = `/\`
	model, _, _ = strings.Cut(model, "#")
	model = strings.TrimRight(strings.TrimSpace(model), separators)
	return strings.TrimSpace(model[strings.LastIndexAny(model, separators)+1:])
}

// dotted writes the version of a GPT with its dot, where the name of a deployment has a dash or nothing: "gpt-4-1-mini"
// and "gpt-41-mini" are gpt-4.1-mini. More digits or a letter are no version: "gpt-4-1106", "gpt-4-32k".
func dotted(name string) string { return undotted.ReplaceAllString(name, "gpt-$1.$2$3") }

var undotted = regexp.MustCompile(`^gpt-([0-9])-?([0-9])([^0-9a-z]|$)`)

func isASCIIDigit(b byte) bool { return '0' <= b && b <= '9' }

func isASCIILetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// matches reports whether one of some names fits one of the patterns, which blanks separate: * matches any run of
// characters, ? one.
func matches(patterns string, names ...string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		for _, name := range names {
			if ok, _ := path.Match(pattern, name); ok { // neither has a slash, and no pattern a bracket
				return true
			}
		}
	}
	return false
}

// families are the rows of families.txt.
var families = func() (all []family) {
	for line := range strings.Lines(familyTable) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		n := numbersIn(f[4:])
		all = append(all, family{f[0], f[1], tokenizerNamed(f[2]), pictureNamed(f[3]), n[0], n[1], n[2], n[3]})
	}
	return all
}()

//go:embed families.txt
var familyTable string

// numbersIn reads numbers of the table, which is a part of the program.
func numbersIn(texts []string) (all []int) {
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 0, 0)
		if err != nil {
			panic("BUG: families.txt: " + err.Error())
		}
		all = append(all, int(n))
	}
	return all
}

// pictureNamed returns how a row charges a picture: by a way with its numbers, or by one that
// several rows share; nil for any other text.
func pictureNamed(text string) picture {
	f := strings.Fields(text)
	switch n := numbersIn(f[1:]); f[0] {
	case "flat":
		return tiles{base: n[0]}
	case "squares": // OpenAI's way since gpt-4.1-mini: squares of 32 pixels, at so many percent of a token
		return patches{side: 32, percent: n[0], limit: n[1], high: n[2]}
	case "tiles":
		return tiles{n[0], n[1]}
	case "area":
		return area(n[0], n[1])
	case "crops":
		return crops(n[0])
	case "lines":
		return lines(n[0], n[1])
	case "qwenVision":
		// Qwen's own processor takes up to 16,384 squares of 28 pixels; hosts stop at 2,560 or less unless told otherwise,
		// so a picture of unknown size is charged 4,096.
		return patches{side: 28, percent: 100, limit: 16_384, unseen: 4_096}
	case "anyVision":
		// Where nothing is known: squares of 28 pixels, which most open vision models merge into a token, at least
		// Ollama's 768 (LLaVA has 576 for any picture) and at most 4,096 (Pixtral; InternVL has 3,328).
		return patches{side: 28, percent: 100, limit: 4_096, least: 768}
	}
	return nil
}

// marks are what chat templates have by which models of one vocabulary are told apart. The last is in all.
var marks = []string{"tojson(indent=4)", "json_to_python_type", "<function=", ""}

// Serving returns the counter of the model that an upstream says it runs when it is asked for c's: by its name, or that of its
// file, by how many tokens it knows, 0 if that is unknown, and by its chat template. People choose names, and the vocabulary is
// what was loaded: a name is believed whose model has it. It returns c if all this says nothing.
func (c *Counter) Serving(name string, vocabulary int, template string) *Counter {
	by := For(name)
	for _, mark := range marks {
		if !strings.Contains(template, mark) {
			continue
		}
		switch k := For("vocabulary-" + strconv.Itoa(vocabulary) + mark); {
		case k.family.name == "unknown" || k.text == by.text:
		case k.text == c.text:
			return c
		default:
			return k
		}
	}
	if by.family.name == "unknown" || by.text == c.text && strings.HasPrefix(c.family.name, by.family.name) { // c's name says more
		return c
	}
	return by
}
