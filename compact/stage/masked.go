package stage

import (
	"regexp"
)

// A marker outlives the result whose first line it quotes, so what looks like a
// secret is not quoted: the value behind a name that says so, a credential of
// the Bearer or Basic kind, the password of a URL, and what has the form of a
// well-known key.
var secret = regexp.MustCompile(`(?i)([\w-]*(?:key|token|secret|passwo?rd|passwd|pwd|credential|cookie|salt)["']?\s*[:=]\s*["']?|\b(?:bearer|basic)\s+|://[^\s/:@]*:)[^\s"'@,;]{4,}` +
	`|\b(?:sk|pk|ghp|gho|ghs|github_pat|glpat|xox[a-z]|AKIA|AIza|eyJ)[\w.-]{12,}|-----BEGIN .*`)

// masked is a line without its secrets.
func masked(line string) string {
	return secret.ReplaceAllString(line, "${1}***")
}
