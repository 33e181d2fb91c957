package stage

import "regexp"

// A marker outlives the result whose first line it quotes, so a marker quotes no
// secrets: the value after a telling name, a Bearer or Basic credential, the
// password of a URL, and anything in the form of a well-known key.
var (
	secret = regexp.MustCompile(`(?i)((?:key|token|secret|[_-]pass|passwo?rd|passwd|pwd|credential|cookie|salt)["']?\s*[:=]\s*["']?|\b(?:bearer|basic)\s+)[^\s"'@,;]{4,}` +
		`|\b(?-i:sk-|pk-|[sp]k_(?:live|test)_|gh[opsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|eyJ)[\w.-]{12,}|-----BEGIN .*`)
	password = regexp.MustCompile(`(://[^\s/:@]*:)[^\s/@]+@`) // of a URL
)

// masked returns a line without its secrets.
func masked(line string) string {
	return password.ReplaceAllString(secret.ReplaceAllString(line, "${1}***"), "${1}***@")
}
