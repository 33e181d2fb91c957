package agent

import (
	"regexp"
	"strings"
)

// hereString finds a text that PowerShell writes into a file.
var hereString = regexp.MustCompile(`(?si)@(?:'\r?\n(.*?)\r?\n'|"\r?\n(.*?)\r?\n")@\s*\|\s*(set-content|add-content|out-file)\s+(?:-\w*path\s+)?(?:'([^'\n]+)'|"([^"\n]+)"|([^\s;|'"]+))`)

// hereStrings takes what a command of PowerShell writes, and returns the rest of it.
func (a *Action) hereStrings() string {
	for _, m := range hereString.FindAllStringSubmatch(a.Command, mostChanges) {
		c := Change{Path: m[4] + m[5] + m[6], New: m[1], How: Written}
		if c.New == "" && strings.Contains(m[2], "$") { // it puts variables in
			c.How = Changed
		} else if c.New += m[2]; strings.EqualFold(m[3], "add-content") {
			c.How = Replaced
		}
		a.add(c)
	}
	return hereString.ReplaceAllLiteralString(a.Command, "")
}
