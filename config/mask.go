package config

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// Nothing of a secret may appear in what we print, also when a slip of the hand
// has put it where it does not belong. Four rules see to it:
//   - of a file that could be parsed, an excerpt shows only keys and values that
//     the loader read as something other than a secret, or would have if they
//     were of the right kind;
//   - of a file that could not, it shows the keys that we know, and a value only
//     where the line is one such key with its value;
//   - a value in which a key of a secret stands has swallowed it and is hidden;
//   - what looks like a credential is hidden wherever it stands.

const mask = "***"

// span is a run of characters in a line, from start up to end.
type span struct{ start, end int }

// hidden is what of a line may not be shown.
type hidden struct {
	text  []rune // without its comment: people note older keys in it
	spans []span
}

// hidden judges a line, once: a file may be one long line full of problems.
func (s *source) hidden(line int) *hidden {
	if h := s.judged[line]; h != nil {
		return h
	}
	h := &hidden{text: s.withoutComment(line)}
	spans, text := s.secretSpans(line, h.text), string(h.text)
	for _, m := range looksSecret.FindAllStringSubmatchIndex(text, -1) {
		from, to := secretPart(m)
		at := utf8.RuneCountInString(text[:from])
		spans = append(spans, span{at, at + utf8.RuneCountInString(text[from:to])})
	}
	h.spans = joined(spans, h.text)
	if s.judged == nil {
		s.judged = map[int]*hidden{}
	}
	s.judged[line] = h
	return h
}

// masked gives a line for an excerpt, and where the caret stands in it and how
// wide it is.
func (s *source) masked(line, caret, width int) (string, int, int) {
	h := s.hidden(line)
	text := h.text
	var b strings.Builder
	written, column, moved := 0, 0, -1 // runes of text passed, runes put out, the caret's new column
	pass := func(to int) {
		if moved < 0 && caret < to {
			moved = column + caret - written
		}
		b.WriteString(string(text[written:to]))
		column += to - written
		written = to
	}
	for _, sp := range h.spans {
		pass(sp.start)
		if moved < 0 && caret < sp.end {
			moved, width = column, len(mask)
		}
		b.WriteString(mask)
		column += len(mask)
		written = sp.end
	}
	pass(len(text))
	if moved < 0 {
		moved = column + caret - written
	}
	return b.String(), moved, width
}

// joined puts spans in order and makes one of those that touch, or that only
// punctuation parts: a whole map is hidden as one.
func joined(spans []span, text []rune) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var all []span
	for _, sp := range spans {
		if last := len(all) - 1; last >= 0 && (sp.start <= all[last].end ||
			strings.Trim(string(text[all[last].end:sp.start]), " ,:[]{}") == "") {
			all[last].end = max(all[last].end, sp.end)
		} else if sp.end > sp.start {
			all = append(all, sp)
		}
	}
	return all
}

// withoutComment cuts a line where its comment begins.
func (s *source) withoutComment(line int) []rune {
	text, from := []rune(s.lines[line-1]), 0
	for _, n := range s.nodes {
		if n.Line == line {
			from = max(from, n.Column-1+utf8.RuneCountInString(n.Value))
		}
	}
	for i := from; i < len(text); i++ {
		if text[i] == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
			return []rune(strings.TrimRight(string(text[:i]), " \t"))
		}
	}
	return text
}

// secretSpans finds what of a line belongs to nodes that may not be shown. Such
// a node is taken to last until the next one begins.
func (s *source) secretSpans(line int, text []rune) []span {
	if s.nodes == nil {
		return s.suspectSpans(line, text)
	}
	var spans []span
	for i, n := range s.nodes {
		if n.Line > line {
			break
		}
		if n.Line == line && s.showable(n) {
			continue
		}
		sp := span{0, len(text)} // of a value of several lines only the first is shown
		if n.Line == line {
			sp.start = min(max(n.Column-1, 0), len(text))
		}
		if i+1 < len(s.nodes) {
			switch next := s.nodes[i+1]; {
			case next.Line < line:
				continue
			case next.Line == line:
				sp.end = min(max(next.Column-1, sp.start), len(text))
			}
		}
		for sp.end > sp.start && strings.ContainsRune(" ,[]{}", text[sp.end-1]) {
			sp.end--
		}
		if strings.Trim(string(text[sp.start:sp.end]), " -?:[]{},") != "" {
			spans = append(spans, sp)
		}
	}
	return spans
}

func (s *source) showable(n *yaml.Node) bool {
	return environmentName.MatchString(n.Value) || s.shown[n] && (secretPath(n.Value) || !swallowed(n.Value))
}

// swallowed tells whether a value has a key of a secret in it: a quote that
// closes too late makes one value of several lines.
func swallowed(value string) bool {
	return secretKey.MatchString(value) || suspectKey.MatchString(withoutCounts(value))
}

// suspectSpans judges a line of a file that could not be parsed.
func (s *source) suspectSpans(line int, text []rune) []span {
	if m := oneSetting.FindStringSubmatch(string(text)); m != nil && publicKeys[m[1]] && !s.belowSecret(line) {
		return nil
	}
	var spans []span
	rest := string(text)
	for _, m := range word.FindAllStringIndex(rest, -1) {
		w := rest[m[0]:m[1]]
		if isKey := strings.HasPrefix(strings.TrimLeft(rest[m[1]:], " \t"), ":"); isKey && (publicKeys[w] || secretPath(w)) ||
			strings.Trim(w, "-") == "" || variable.MatchString(w) && len(variable.FindString(w)) == len(w) {
			continue
		}
		spans = append(spans, span{utf8.RuneCountInString(rest[:m[0]]), utf8.RuneCountInString(rest[:m[1]])})
	}
	return spans
}

// belowSecret tells whether one of the keys above a line, by indentation, is
// one that holds secrets.
func (s *source) belowSecret(line int) bool {
	indent, item := indentOf(s.lines[line-1])
	for _, above := range slices.Backward(s.lines[:line-1]) {
		at, dash := indentOf(above)
		if strings.TrimSpace(above) == "" || above[at] == '#' || at > indent || at == indent && (!item || dash) {
			continue
		}
		if swallowed(above) {
			return true
		}
		indent, item = at, dash
	}
	return false
}

// indentOf counts the blanks before a line and tells whether it is an item of a
// list.
func indentOf(line string) (indent int, item bool) {
	rest := strings.TrimLeft(line, " \t")
	return len(line) - len(rest), strings.HasPrefix(rest, "-")
}

// maskSecrets masks what looks like a credential in a sentence.
func maskSecrets(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range looksSecret.FindAllStringSubmatchIndex(s, -1) {
		from, to := secretPart(m)
		b.WriteString(s[last:from] + mask)
		last = to
	}
	return b.String() + s[last:]
}

// secretPart is the group of a match of looksSecret that is to be masked.
func secretPart(m []int) (from, to int) {
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}

// withoutCounts hides the keys that only count tokens from suspectKey, keeping
// every position.
func withoutCounts(line string) string {
	return countKey.ReplaceAllStringFunc(line, func(s string) string { return strings.Repeat("_", len(s)) })
}

var (
	// looksSecret: keys by the prefixes that vendors give them, tokens after
	// "Bearer", JWTs, long runs that mix letters and digits, and what stands
	// before the @ or behind the ? of a URL.
	looksSecret = regexp.MustCompile(`\b(?:(?:sk|pk|rk|gsk|csk|xai|hf|fw|ghp|gho|glpat|nvapi|github_pat)[-_][\w.\-]{3,}` +
		`|AIza[\w\-]{8,}|eyJ[\w\-]{8,}[\w.\-]*)` +
		`|(?i:\bbearer)\s+(\S+)` +
		`|://([^/\s"'@]+)@` +
		`|\w://[^\s"'?]*\?([^\s"']+)` +
		`|\b((?:[A-Za-z]+[0-9]|[0-9]+[A-Za-z])[A-Za-z0-9]{18,})`)

	// secretKey: a key of ours that holds secrets; suspectKey: a key that may;
	// countKey: one that only counts tokens.
	secretKey  = regexp.MustCompile(`\b(?:api_key|client_keys|admin_token|secret)\b`)
	suspectKey = regexp.MustCompile(`(?i)[\w.\-]*(?:key|token|secret|passw|credential|auth)[\w.\-]*["']?\s*:`)
	countKey   = regexp.MustCompile(`(?i)\b(?:\w+_tokens|tokens|tokenizer)\b`)

	// oneSetting: a line that is one key with one value; word: a variable, or
	// what stands between punctuation.
	oneSetting = regexp.MustCompile(`^[ \t]*(?:- +)?(\w+)[ \t]*:(?:[ \t]+[^,:]*(?::[^\s,:]+)*)?$`)
	word       = regexp.MustCompile("\\$\\{\\w*\\}|[^\\s,:\\[\\]{}\"'#&*!|>%@`?]+")

	// environmentName: a value that only names a variable is no secret.
	environmentName = regexp.MustCompile(`^["']?\$\{\w+\}["']?$`)
)

// publicKeys are the keys of the configuration that hold no secrets.
var publicKeys = func() map[string]bool {
	keys := map[string]bool{"policies": true, DefaultPolicy: true}
	for _, home := range homes {
		for _, name := range keysOf(home.of) {
			if name != "" && !secretPath(name) {
				keys[name] = true
			}
		}
	}
	return keys
}()
