package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// masked stands in place of a secret.
const masked = "[secret]"

// secret is a shape that credentials have: where one of its words stands, the
// expression is tried. Going through whole transcripts with it takes seconds.
type secret struct {
	words []string // in lower case
	// inside: the words may stand inside a longer one, as in DB_PASSWORD.
	inside bool
	// shape is anchored. Its first group, if any, is what is masked.
	shape *regexp.Regexp
}

var secrets = []secret{
	{[]string{"-----begin "}, true, regexp.MustCompile(`^-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`)},
	{[]string{"eyj"}, false, regexp.MustCompile(`^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},                          // JSON web tokens
	{[]string{"sk-", "sk_", "pk_", "rk_"}, false, regexp.MustCompile(`^[A-Za-z]{2}[-_][A-Za-z0-9_-]*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*`)}, // OpenAI, Anthropic, Stripe
	{
		[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "hf_"}, false, // code and model hosts
		regexp.MustCompile(`^(?:gh[a-z]|github_pat|glpat|npm|hf)[_-][A-Za-z0-9_-]{16,}`),
	},
	{[]string{"akia", "asia"}, false, regexp.MustCompile(`^(?:AKIA|ASIA)[A-Z0-9]{16}\b`)}, // AWS
	{[]string{"aiza"}, false, regexp.MustCompile(`^AIza[A-Za-z0-9_-]{30,}`)},              // Google
	{[]string{"xox"}, false, regexp.MustCompile(`^xox[abeoprs]-[A-Za-z0-9-]{10,}`)},       // Slack
	{[]string{"bearer ", "basic "}, false, regexp.MustCompile(`^[A-Za-z]+ +([A-Za-z0-9._~+/-]{12,}=*)`)},
	{[]string{"://"}, true, regexp.MustCompile(`^://[^\s/:@"'<>]*:([^\s/@"'<>]+)@`)}, // user:password in a URL
	{
		[]string{
			"password", "passwd", "passphrase", "secret", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "accountkey",
			"auth_token", "auth-token", "authtoken", "access_token", "access-token", "accesstoken", "refresh_token", "refresh-token", "refreshtoken",
			"session_token", "session-token", "private_key",
		},
		true,
		regexp.MustCompile(`^[A-Za-z_-]+\\?["']?[ \t]{0,16}[:=](?:\s|[ \t]{0,16})\\?["']?([^\s"'\\,;}]{6,})`),
	},
}

// longestSecret bounds how far a shape is looked at: private keys are long.
const longestSecret = 16 << 10

// Mask puts a mark in place of everything that has the shape of a credential.
// It cannot know them all: it is a net, not a wall.
func Mask(s string) string {
	lower := lowered(s)
	var found [][2]int
	for i := range secrets {
		for _, w := range secrets[i].words {
			found = secrets[i].find(s, lower, w, found)
		}
	}
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var b strings.Builder
	done := 0
	for _, f := range found {
		if f[0] >= done {
			b.WriteString(s[done:f[0]] + masked)
		}
		done = max(done, f[1])
	}
	b.WriteString(s[done:])
	return b.String()
}

// find adds the places of a shape that begin with one of its words.
func (c *secret) find(s, lower, word string, found [][2]int) [][2]int {
	for at := 0; ; {
		i := strings.Index(lower[at:], word)
		if i < 0 {
			return found
		}
		i += at
		at = i + len(word)
		if !c.inside && i > 0 && wordByte(s[i-1]) {
			continue
		}
		m := c.shape.FindStringSubmatchIndex(s[i:min(len(s), i+longestSecret)])
		switch {
		case m == nil:
		case len(m) > 2:
			found = append(found, [2]int{i + m[2], i + m[3]})
			at = i + m[1]
		default:
			found = append(found, [2]int{i, i + m[1]})
			at = i + m[1]
		}
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

// lowered is a text with its ASCII letters in lower case, every byte in its
// place.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
