package tokenize

import (
	"strconv"
	"strings"
)

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
