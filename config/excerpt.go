package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// Nothing of a secret may appear in what we print, also when a slip of the hand
// has put it where it does not belong. So an excerpt is drawn only of a file that
// could be parsed, and shows the value that the problem is about, the keys that
// are known, and variables. Every other value is ***; so is a value under the key
// of a secret, and one that looks like a credential or that has swallowed the
// line of one.

const mask = "***"

// excerpt draws the line of a problem and a caret below the column, cut to what
// fits on a screen; "" if there is no such line, or the file could not be parsed.
func (f finding) excerpt() string {
	if f.src.nodes == nil || f.node == nil || f.Line < 1 || f.Line > len(f.src.lines) {
		return ""
	}
	text, caret, width := clipLine(f.masked())
	var b strings.Builder
	number := fmt.Sprint(f.Line)
	fmt.Fprintf(&b, "  %s | %s\n  %*s | ", number, text, len(number), "")
	for i, r := range []rune(text) {
		if i == caret {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat("^", width) + "\n")
	return b.String()
}

// nearCaret is how many characters on either side of the caret are looked at. Fewer
// are shown; in a line with thousands of problems the rest would be masked once for
// each.
const nearCaret = 2000

// masked returns the line of a problem, and where its caret begins and how wide it
// is. A value reaches to the next one.
func (f finding) masked() (text string, caret, width int) {
	line := []rune(f.src.lines[f.Line-1])
	nodes := f.src.on(f.Line)
	if len(nodes) > 0 {
		last := nodes[len(nodes)-1]
		for i := last.Column - 1 + utf8.RuneCountInString(last.Value); i < len(line); i++ {
			if i > 0 && line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') { // people note older keys in comments
				line = []rune(strings.TrimRight(string(line[:i]), " \t"))
			}
		}
	}
	var b strings.Builder
	column, at := 0, f.Column-1
	put := func(from, to int, shown bool) {
		part := string(line[from:to])
		value := strings.TrimRight(part, " ,[]{}:\t")
		hidden := !shown && strings.Trim(value, " -?:[]{},\t") != ""
		if hidden {
			value = mask + part[len(value):]
		} else {
			value = maskSecrets(part)
		}
		if from <= at && (at < to || to == len(line)) {
			caret, width = column+at-from, f.caret()
			if hidden {
				caret, width = column, len(mask)
			}
		}
		b.WriteString(value)
		column += utf8.RuneCountInString(value)
	}
	from, shown := 0, false
	for _, n := range nodes {
		to := min(n.Column-1, len(line))
		if near := at - nearCaret; to >= near && from <= at+nearCaret {
			put(from, to, shown)
		}
		from, shown = to, f.shows(n)
	}
	put(from, len(line), shown)
	return b.String(), caret, max(width, 1)
}

// on returns the nodes that begin in a line, from left to right.
func (s *source) on(line int) (nodes []*yaml.Node) {
	for _, n := range s.nodes {
		if n.Line != line {
			continue
		}
		if last := len(nodes) - 1; last >= 0 && nodes[last].Column == n.Column {
			nodes = nodes[:last] // a map begins with its first key
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// shows reports whether a node of the line may be shown.
func (f finding) shows(n *yaml.Node) bool {
	return variableOnly.MatchString(n.Value) || f.src.shown[n] || n == f.node && !f.hide && (harmless(n.Value) || secretPath(n.Value))
}

// clipLine cuts a long line to the characters around the caret.
func clipLine(text string, caret, width int) (string, int, int) {
	const most, before = 110, 60
	runes := []rune(text)
	caret = min(max(caret, 0), len(runes))
	start := 0
	if len(runes) > most && caret > before {
		start = caret - before
	}
	end := min(len(runes), start+most)
	cut := string(runes[start:end])
	caret -= start
	if start > 0 {
		cut, caret = "…"+cut, caret+1
	}
	if end < len(runes) {
		cut += "…"
	}
	return cut, caret, max(1, min(width, utf8.RuneCountInString(cut)-caret))
}

// maskSecrets masks what looks like a credential.
func maskSecrets(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range looksSecret.FindAllStringSubmatchIndex(s, -1) {
		parts := slices.DeleteFunc(slices.Collect(slices.Chunk(m[2:], 2)), func(p []int) bool { return p[0] < 0 })
		if len(parts) == 0 {
			parts = [][]int{m[:2]}
		}
		for _, p := range parts {
			b.WriteString(s[last:p[0]] + mask)
			last = p[1]
		}
	}
	return b.String() + s[last:]
}

// secretPath reports whether the value of a path is never shown. credential is no
// secret, but a place where people put one.
func secretPath(path string) bool {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return name == "api_key" || name == "client_keys" || name == "admin_token" || name == "credential" || name == "secret"
}

// harmless reports whether a value has no key of a secret in it: a quote that
// closes too late makes one value of several lines.
func harmless(value string) bool {
	return !strings.Contains(value, "\n") && !secretKey.MatchString(value)
}

// quoted puts a word of the file into a sentence.
func quoted(word string) string {
	if !harmless(word) && !secretPath(word) {
		return "this"
	}
	if runes := []rune(word); len(runes) > 40 {
		word = string(runes[:40]) + "…"
	}
	return strconv.Quote(word)
}

var (
	// looksSecret: keys by the prefixes that vendors give them, tokens after
	// "Bearer", JWTs, long runs that mix letters and digits, and what is
	// before the last @ of a URL, or behind its ?. A password that was not
	// escaped may hold any sign.
	looksSecret = regexp.MustCompile(`\b(?:(?:sk|pk|rk|gsk|csk|xai|hf|fw|ghp|gho|glpat|nvapi|github_pat)[-_][\w.\-]{3,}` +
		`|AIza[\w\-]{8,}|eyJ[\w\-]{8,}[\w.\-]*)` +
		`|(?i:\bbearer)\s+(\S+)` +
		`|://([^\s"']+)@[^\s"'?@]*(?:\?([^\s"']+))?` +
		`|://[^\s"'?]*\?([^\s"']+)` +
		`|\b((?:[A-Za-z]+[0-9]|[0-9]+[A-Za-z])[A-Za-z0-9]{18,})`)

	// secretKey is a key that holds a secret, or may.
	secretKey = regexp.MustCompile(`\b(?:api_key|client_keys|admin_token|secret)\b|(?i)[\w.\-]*(?:key|token|secret|passw|credential|auth)[\w.\-]*["']?\s*:`)

	// variableOnly is a value that only names a variable, which is no secret.
	variableOnly = regexp.MustCompile(`^["']?\$\{\w+\}["']?$`)
)
