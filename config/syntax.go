package config

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// parseYAML reads the one document of a configuration file. The result is nil
// for an empty file. At most one problem is returned: the
// parser cannot go on behind a syntax error.
func parseYAML(s *source, src []byte) (*yaml.Node, *Problem) {
	if f := notText(s, src); f != nil {
		return nil, f
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
		line := max(next.Line, 1)
		if f := (*yaml.LoadError)(nil); errors.As(err, &f) {
			line = max(f.Mark.Line, 1)
		}
		return nil, s.syntax(line, 1, "a second document begins here", "a configuration is one document; remove the line ---")
	}
	if swapped {
		showBraces(&doc)
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

// notText returns the problem of a file that is not UTF-8; nil for one that is.
func notText(s *source, src []byte) *Problem {
	if utf8.Valid(src) {
		return nil
	}
	line := 1
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		src = src[size:]
	}
	return s.syntax(line, 1, "the file is not UTF-8", "save it as UTF-8")
}

func (s *source) syntax(line, column int, message, hint string) *Problem {
	return &Problem{File: s.name, Line: line, Column: column, Code: codeSyntax, Message: message, Hint: hint}
}

// explain returns an error of the parser in words that help.
func (s *source) explain(err error) *Problem {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return s.syntax(1, 1, "this is not YAML: "+bracesBack.Replace(err.Error()), "")
	}
	at := le.Mark
	for _, t := range syntaxWords {
		if !strings.Contains(le.Message, t.says) || !strings.Contains(le.ContextMsg, t.doing) {
			continue
		}
		if t.fromStart && le.ContextMark.Line > 0 {
			at = le.ContextMark
		}
		if t.where != nil && !t.where.MatchString(s.from(at.Line, at.Column)) {
			continue
		}
		return s.syntax(max(at.Line, 1), max(at.Column, 1), t.message, t.hint)
	}
	message := "this is not YAML: " + bracesBack.Replace(le.Message)
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	return s.syntax(max(at.Line, 1), max(at.Column, 1), message, "")
}

// from returns the rest of a line from a column on.
func (s *source) from(line, column int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	runes := []rune(s.lines[line-1])
	return string(runes[min(max(column-1, 0), len(runes)):])
}

// syntaxWords rewords the commonest errors of the parser. The
// first row that fits is taken.
var syntaxWords = []struct {
	says, doing   string         // parts of the parser's message and of what it was doing
	where         *regexp.Regexp // what the text there must match; nil: anything
	fromStart     bool           // point at where the thing began
	message, hint string
}{
	{"control characters", "", nil, false, "a control character stands here", "remove it"},
	{"", "scanning an alias", nil, true, "a * without quotes means something else in YAML", quotePatterns},
	{"unknown anchor", "", nil, false, "a * without quotes means something else in YAML", quotePatterns},
	{"end of stream", "quoted scalar", nil, true, "this quote is never closed", ""},
	{"document indicator", "quoted scalar", nil, true, "this quote is never closed", ""},
	{"unknown escape", "quoted scalar", nil, false, `after a \ in double quotes only the escapes of YAML may stand`, "single quotes take every character as it is"},
	{"expected hexadecimal", "quoted scalar", nil, false, `after a \ in double quotes only the escapes of YAML may stand`, "single quotes take every character as it is"},
	{"", "parsing a flow sequence", nil, true, "this [ is not closed, or a comma is missing in the list", "a value with { } or [ ] needs quotes"},
	{"", "parsing a flow mapping", nil, true, "this { is not closed, or a comma is missing in it", "a value with { } or [ ] needs quotes"},
	{"cannot start any token", "", regexp.MustCompile(`^\t`), false, "a tab cannot indent YAML", "use spaces"},
	{"cannot start any token", "", regexp.MustCompile("^[@`%]"), false, "a value cannot begin with this character", "put it in quotes"},
	{"tab character", "", nil, false, "a tab cannot indent YAML", "use spaces"},
	{"mixed spaces and tabs", "", nil, false, "a tab cannot indent YAML", "use spaces"},
	{"mapping values are not allowed", "", nil, false, "a second : stands here, or the line is indented wrongly", `a value that holds ": " needs quotes`},
	{"did not find expected key", "", nil, false, "this line fits neither as a key nor to the value above it", "check its indentation"},
	{"expected '-' indicator", "", nil, false, "this line fits neither as an item of the list nor to the item above it", "check its indentation"},
	{"could not find expected ':'", "", nil, false, `this key has no ":" behind it`, ""},
	{"exceeded max depth", "", nil, false, "this is nested too deeply", ""},
}

const quotePatterns = `put patterns in quotes: match: "*"`
