package summary

import "regexp"

// masked stands in place of a secret.
const masked = "[secret]"

// secrets are shapes that credentials have. The first group, where there is
// one, is what stands in front and stays.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`),
	regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),                                                   // JSON web tokens
	regexp.MustCompile(`()\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}`),                                                   // OpenAI, Anthropic, Stripe
	regexp.MustCompile(`()\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{20,})`), // code hosts
	regexp.MustCompile(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),                                                                               // AWS
	regexp.MustCompile(`()\bAIza[A-Za-z0-9_-]{30,}`),                                                                                    // Google
	regexp.MustCompile(`()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`),                                                                            // Slack
	regexp.MustCompile(`()\bhf_[A-Za-z0-9]{20,}`),                                                                                       // Hugging Face
	regexp.MustCompile(`((?i)\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/-]{12,}=*`),
	regexp.MustCompile(`(://[^\s/:@"'<>]{0,100}:)[^\s/@"'<>]{1,200}@`), // user:password in a URL
	regexp.MustCompile(`((?i)\b[a-z0-9_.-]{0,40}(?:password|passwd|secret|api[-_]?key|access[-_]?key|auth[-_]?token|private[-_]?key)\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)[^\s"'\\,;}]{6,}`),
}

// Mask puts a mark in place of everything that has the shape of a credential.
// It cannot know them all: it is a net, not a wall.
func Mask(s string) string {
	for i, re := range secrets {
		with := "${1}" + masked
		if i == len(secrets)-2 {
			with += "@"
		}
		s = re.ReplaceAllString(s, with)
	}
	return s
}
