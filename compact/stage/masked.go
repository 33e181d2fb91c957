package stage

import (
	"regexp"
	"strings"
)

// A marker outlives the result whose first line it quotes, so a marker quotes no
// secrets: the value after a telling name, a Bearer or Basic credential, the
// password of a URL, and anything in the form of a well-known key.
var (
	secret = regexp.MustCompile(`(?i)((?:key|token|secret|[_-]pass|passwo?rd|passwd|pwd|credential|cookie|salt)["']?\s*[:=]\s*["']?|\b(?:bearer|basic)\s+)[^\s"'@,;]{4,}` +
		`|\b(?-i:sk-|pk-|[sp]k_(?:live|test)_|gh[opsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|eyJ)[\w.-]{12,}|-----BEGIN .*`)
	password = regexp.MustCompile(`(://[^\s/:@]*:)[^\s/@]+@`) // of a URL
)

// secretWords are what every match of secret has one of, in lower case. Nearly all
// lines have none, and to look for them is much quicker than the expression.
var secretWords = []string{
	"key", "token", "secret", "pass", "pwd", "credential", "cookie", "salt", "bearer", "basic",
	"sk-", "pk-", "sk_", "pk_", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "akia", "aiza", "eyj", "-----begin",
}

// secretStarts are how secretWords begin, in either case: for the first letter the
// last six bits of each second one.
var secretStarts = func() (starts [256]uint64) {
	for _, w := range secretWords {
		for _, first := range []string{w[:1], strings.ToUpper(w[:1])} {
			starts[first[0]] |= 1<<(w[1]&63) | 1<<(strings.ToUpper(w[1:2])[0]&63)
		}
	}
	for _, c := range "ſ\u212a" { // which count as s and k there
		starts[string(c)[0]] = ^uint64(0)
	}
	return starts
}()

// masked returns a line without its secrets.
func masked(line string) string {
	if mayHoldSecret(line) {
		line = secret.ReplaceAllString(line, "${1}***")
	}
	if strings.Contains(line, "://") {
		line = password.ReplaceAllString(line, "${1}***@")
	}
	return line
}

// mayHoldSecret reports whether a line has one of secretWords.
func mayHoldSecret(line string) bool {
	for i := 0; i+1 < len(line); i++ {
		if secretStarts[line[i]]>>(line[i+1]&63)&1 == 0 {
			continue
		}
		if strings.HasPrefix(line[i:], "ſ") || strings.HasPrefix(line[i:], "\u212a") {
			return true
		}
		for _, w := range secretWords {
			if len(line)-i >= len(w) && strings.EqualFold(line[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}
