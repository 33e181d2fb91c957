package stage

import (
	"regexp"
	"slices"
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

// masked returns a line without its secrets.
func masked(line string) string {
	lower := strings.ToLower(strings.ReplaceAll(line, "ſ", "s")) // the expression takes ſ for s
	if slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(lower, w) }) {
		line = secret.ReplaceAllString(line, "${1}***")
	}
	return password.ReplaceAllString(line, "${1}***@")
}
