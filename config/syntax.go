package config

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// parseYAML reads the one document of a configuration file. The result is nil
// for an empty file. At most one problem is returned: the
// parser cannot go on behind a syntax error.
func parseYAML(s *source, src []byte) (*yaml.Node, *Problem) {
	if !utf8.Valid(src) {
		return nil, s.syntax(1, 1, "the file is not UTF-8", "save it as UTF-8")
	}
	text, swapped := hideBraces(string(src))
	loader, err := yaml.NewLoader(strings.NewReader(text))
	if err != nil {
		return nil, s.syntax(1, 1, err.Error(), "")
	}
	var doc, next yaml.Node
	if err := loader.Load(&doc); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, s.explain(err)
	}
	if err := loader.Load(&next); err != io.EOF {
		line := next.Line
		if f := (*yaml.LoadError)(nil); errors.As(err, &f) {
			line = f.Mark.Line
		}
		return nil, s.syntax(line, 1, "a second document begins here", "a configuration is one document; remove the line ---")
	}
	if alias := prepare(&doc, swapped); alias != nil {
		return nil, s.syntax(alias.Line, alias.Column, "aliases of YAML are not read here", "write the value out; "+quotePatterns)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	return root, nil
}

// prepare puts the braces of variables back, if they were swapped, and returns the
// first alias.
func prepare(n *yaml.Node, swapped bool) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	if swapped {
		n.Value = bracesBack.Replace(n.Value)
	}
	for _, c := range n.Content {
		if alias := prepare(c, swapped); alias != nil {
			return alias
		}
	}
	return nil
}

func (s *source) syntax(line, column int, message, hint string) *Problem {
	return &Problem{File: s.name, Line: max(line, 1), Column: max(column, 1), Message: message, Hint: hint}
}

// explain returns an error of the parser with its place.
func (s *source) explain(err error) *Problem {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return s.syntax(1, 1, "this is not YAML", "")
	}
	message, hint := "this is not YAML: "+le.Message, `indent with spaces; quote a value that holds ": " or begins with a sign such as @ or %`
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	switch {
	case strings.Contains(message, "anchor") || strings.Contains(message, "alias"): // whose name may be a secret
		message, hint = "a * without quotes is an alias of YAML", quotePatterns
	case le.ContextMark.Line > 0 && le.ContextMark.Line < le.Mark.Line:
		hint = fmt.Sprintf("it began in line %d", le.ContextMark.Line)
	}
	return s.syntax(le.Mark.Line, le.Mark.Column, bracesBack.Replace(message), hint)
}

const quotePatterns = `put patterns in quotes: match: "*"`
