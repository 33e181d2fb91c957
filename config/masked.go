package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Nothing of a secret may appear in what we print, also when a slip of the hand
// has put it where it does not belong: a message repeats only words that look like a
// slip of a known one, and never a value under the key of a secret.

const mask = "***"

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
