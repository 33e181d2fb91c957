package agent

import (
	"regexp"

	"laconic/compact/quote"
)

// interpreters matches the names of programs that run scripts.
const interpreters = `python[\d.]*|node|ruby|perl|php|bash|sh`

// These find that a script writes files, the names that it gives at once, what else may be their
// names, and the scripts that a command runs.
var (
	scriptWrites = regexp.MustCompile(`\bopen\([^)\n]*,\s*(?:mode\s*=\s*)?["'][wax]|\bwrite_text\(|\bwriteFileSync\(`)
	writesNamed  = regexp.MustCompile(`\bopen\(\s*["']([\w./-]+)["'],\s*(?:mode\s*=\s*)?["'][wax]|\bPath\(["']([\w./-]+)["']\)\.write_text\(|\bwriteFileSync\(\s*["']([\w./-]+)["']`)
	quotedName   = regexp.MustCompile(`["']([\w./-]+\.\w+)["']`)
	runsScript   = regexp.MustCompile(`\b(?:` + interpreters + `)(?: -\w+)* +(?:\./)?([\w./-]+\.\w+)`)
)

// WrittenBy returns what a script changes when it runs: the files that it names, if it writes some.
func WrittenBy(script string) (changes []Change) {
	if script = quote.First(script, 1<<16); !scriptWrites.MatchString(script) {
		return nil
	}
	written := map[string]bool{}
	for _, m := range writesNamed.FindAllStringSubmatch(script, mostChanges) {
		written[m[1]+m[2]+m[3]] = true
	}
	for _, m := range quotedName.FindAllStringSubmatch(script, mostChanges) {
		c := Change{Path: m[1], How: Touched}
		if written[m[1]] {
			c.How = Changed
		}
		changes = append(changes, c)
	}
	return changes
}

// Scripts returns the files that a command runs as scripts.
func (a *Action) Scripts() (paths []string) {
	for _, m := range runsScript.FindAllStringSubmatch(a.Command, mostChanges) {
		paths = append(paths, a.Placed(m[1]))
	}
	return paths
}
