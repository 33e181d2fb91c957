package config

import (
	"regexp"
	"strings"
)

// ${NAME} stands for a variable of the environment, anywhere in a value; $${
// is ${ as text. It is expanded in values that are parsed already, so what a
// variable holds can never become YAML.

var variable = regexp.MustCompile(`\$\{[A-Za-z0-9_]*\}`)

// In YAML { begins a map, so {api_key: ${KEY}} would be no YAML. The braces of
// variables are therefore hidden from the parser behind two characters for
// private use and put back in what it made; a file that holds such characters
// itself is parsed as it is. No position changes by that.
const (
	hiddenOpen  = '\uE07B'
	hiddenClose = '\uE07D'
)

var bracesBack = strings.NewReplacer(string(hiddenOpen), "{", string(hiddenClose), "}")

func hideBraces(src string) (string, bool) {
	if strings.ContainsRune(src, hiddenOpen) || strings.ContainsRune(src, hiddenClose) {
		return src, false
	}
	return variable.ReplaceAllStringFunc(src, func(v string) string {
		return "$" + string(hiddenOpen) + v[2:len(v)-1] + string(hiddenClose)
	}), true
}

// envFault describes what is wrong with one variable of a value.
type envFault struct{ message, hint string }

// expand replaces the variables of a value. expanded reports whether there was
// one.
func expand(value string, lookup func(string) (string, bool)) (text string, expanded bool, faults []envFault) {
	var b strings.Builder
	for {
		at := strings.Index(value, "${")
		if at < 0 {
			b.WriteString(value)
			return b.String(), expanded, faults
		}
		if at > 0 && value[at-1] == '$' {
			b.WriteString(value[:at-1] + "${")
			value = value[at+2:]
			continue
		}
		b.WriteString(value[:at])
		expanded = true
		end := strings.IndexByte(value[at:], '}')
		if end < 0 {
			faults = append(faults, envFault{"a variable is not closed with }", "write $${ for a plain ${"})
			return b.String(), expanded, faults
		}
		ref := value[at : at+end+1]
		name := ref[2 : len(ref)-1]
		held, ok := "", false
		if variableName.MatchString(name) {
			if held, ok = lookup(name); !ok {
				faults = append(faults, envFault{"the variable " + name + " is not set", "set it, or write $${ for a plain ${"})
			}
		} else {
			faults = append(faults, envFault{"a variable is written ${NAME}, of letters, digits and _", "there are no other forms; write $${ for a plain ${"})
		}
		b.WriteString(held)
		value = value[at+end+1:]
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
