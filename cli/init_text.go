package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"laconic/config"
	"laconic/number"
)

// mostWritten is how many models are written down; a longer list is a catalogue,
// which the proxy asks for itself.
const mostWritten = 30

// name returns what an upstream is, in words.
func (f found) name() string {
	switch {
	case f.Program != "":
		return f.Program
	case wantsKey(f.Found):
		return "an upstream that wants a key"
	case f.Status == 0:
		return "an upstream"
	}
	return "an OpenAI-compatible server"
}

func modelsWords(f found) string {
	windows := 0
	for _, m := range f.Models {
		if f.Published(m).Window > 0 {
			windows++
		}
	}
	return fmt.Sprintf("%s, %s", number.Count(len(f.Models), "model"), number.Count(windows, "window"))
}

// configurationFor returns the text of a configuration for some upstreams, of which
// the first is that of all models that no row names.
func configurationFor(all []found) string {
	var b strings.Builder
	b.WriteString("# Written by laconic init. `laconic check` says what this comes to; config.example.yaml\n# explains every setting.\n\n")
	fmt.Fprintf(&b, "# The base URL of %s, in the place of the client's.\nupstream: %s\n\n", all[0].name(), quotedYAML(all[0].url))
	b.WriteString("# The address for clients: laconic env CLIENT prints what to set there.\n#listen: " + config.Default().Listen + "\n\n")
	b.WriteString("# Rows of models; the first that matches counts. window is in tokens: what the server was\n" +
		"# started with, not the model's maximum. auto asks the server while the proxy runs.\nmodels:\n")
	seen := map[string]bool{}
	for i, f := range all {
		if len(f.Models) > mostWritten {
			fmt.Fprintf(&b, "  # %s lists %d models: auto finds their windows.\n", f.name(), len(f.Models))
			continue
		}
		for _, m := range f.Models {
			if seen[m] || !writable(m) {
				continue
			}
			seen[m] = true
			fmt.Fprintf(&b, "  - match: %s\n", quotedYAML(m))
			if i > 0 {
				fmt.Fprintf(&b, "    upstream: %s   # %s\n    api_key: none   # it wants none, and the client's is not for it\n", quotedYAML(f.url), f.name())
			}
			if n := f.Published(m).Window; n > 0 {
				fmt.Fprintf(&b, "    window: %d   # as %s published it\n", n, f.name())
			} else {
				b.WriteString("    window: auto   # not published now\n")
			}
		}
	}
	b.WriteString("  - match: \"*\"\n    window: auto\n    #budget: 24000   # tokens of prompt, instead of the window less a reserve\n    #mode: shadow    # measure and report, but send requests as they came\n")
	return b.String()
}

// writable reports whether the name of a model can be a row: one that names it alone.
func writable(model string) bool {
	return len(model) <= 200 && !strings.ContainsAny(model, `*${}\`) && !strings.ContainsFunc(model, func(r rune) bool { return r < ' ' || r >= 0x7f })
}

// quotedYAML returns text as YAML, which reads the texts of JSON.
func quotedYAML(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""` // unreachable: a text is always JSON
	}
	return strings.ReplaceAll(string(b), "${", "$${")
}
