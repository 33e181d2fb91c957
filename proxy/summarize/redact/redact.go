// Package redact puts a mark in place of what has the shape of a credential. It
// is a function of its argument, takes time in proportion to the text, and keeps
// everything else as it was.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// masked stands in place of a secret.
const masked = "[secret]"

// secret is a shape that credentials have: where one of its words stands, it
// is looked at closely. Going through whole transcripts with one expression
// takes seconds.
type secret struct {
	words []string // in lower case
	// inside: the words may stand inside a longer one, as in DB_PASSWORD.
	inside bool
	// find looks at a word that stands at a place. It gives the secret, to
	// being 0 where there is none, and from where on there may be another: so
	// far nothing else of this shape begins, whatever was found.
	find func(t *masking, at int) (from, to, next int)
}

var secrets = []secret{
	{[]string{"-----begin "}, true, privateKey},
	{[]string{"eyj", "sg."}, false, dotted}, // JSON web tokens, SendGrid
	{[]string{
		"sk-", "sk_", "pk_", "rk_", "gsk_", "xai-", // OpenAI, Anthropic, Stripe, Groq, xAI
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "hf_", // code and model hosts
		"akia", "asia", "aiza", "xox", "xapp-", // AWS, Google, Slack
	}, false, prefixed},
	{[]string{"bearer "}, false, bearer},
	{[]string{"basic "}, false, basic},
	{[]string{"://"}, true, inURL},
	{[]string{"curl "}, false, inCommand},
	{[]string{"authorization"}, true, authorized},
	{[]string{
		"password", "passwd", "passphrase", "secret", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey",
		"accountkey", "private_key",
	}, true, named},
	{[]string{"token", "auth_key", "auth-key", "authkey", "signing_key", "encryption_key"}, true, namedKey},
	{[]string{"pwd"}, true, namedShort},
	{[]string{"_pass"}, true, namedPass},
	{[]string{"_key"}, true, variable},
	{[]string{"api key"}, false, spaced},
	{[]string{"--password"}, true, flagged},
	{[]string{"cookie"}, true, cookies},
}

// Text puts a mark in place of everything that has the shape of a credential.
// It cannot know them all: it is a net, not a wall. What it does is linear in
// the length of the text, whatever stands there.
func Text(s string) string {
	return newMasking(s).masked()
}

// masking is one text that is gone through.
type masking struct {
	s, lower string
	// looked is how many bytes were looked at: the check that it is linear.
	looked int
}

func newMasking(s string) *masking { return &masking{s: s, lower: lowered(s)} }

func (t *masking) masked() string {
	var found [][2]int
	for i := range secrets {
		for _, w := range secrets[i].words {
			found = t.find(&secrets[i], w, found)
		}
	}
	if len(found) == 0 {
		return t.s
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var b strings.Builder
	done := 0
	for _, f := range found {
		if f[0] >= done {
			b.WriteString(t.s[done:f[0]] + masked)
		}
		done = max(done, f[1])
	}
	b.WriteString(t.s[done:])
	return b.String()
}

// find adds the places of a shape that begin with one of its words.
func (t *masking) find(c *secret, word string, found [][2]int) [][2]int {
	for at := 0; ; {
		i := strings.Index(t.lower[at:], word)
		if i < 0 {
			return found
		}
		i += at
		at = i + len(word)
		if !c.inside && i > 0 && inWord[t.s[i-1]] && !t.escapeBefore(i) {
			continue
		}
		from, to, next := c.find(t, i)
		if to > from {
			found = append(found, [2]int{from, to})
		}
		at = max(at, next, to)
	}
}

// escapeBefore tells whether what stands before a place is an escape of JSON,
// as in \nsk-…: calls and results are looked at as they were sent, and the
// letter of an escape is no part of the word behind it.
func (t *masking) escapeBefore(at int) bool {
	if at >= 2 && t.s[at-2] == '\\' && strings.IndexByte("nrtbf", t.s[at-1]) >= 0 {
		return true
	}
	return at >= 6 && strings.HasPrefix(t.s[at-6:], `\u`) && !has(t.s[at-4:at], notHex)
}

// class is a set of bytes.
type class [256]bool

func classOf(bytes string) *class {
	var c class
	for i := range len(bytes) {
		c[bytes[i]] = true
	}
	return &c
}

// but is every byte that is not in a class.
func (c *class) but() *class {
	var out class
	for i := range out {
		out[i] = !c[i]
	}
	return &out
}

func union(a, b *class) *class {
	c := *a
	for i := range c {
		c[i] = c[i] || b[i]
	}
	return &c
}

const (
	digitBytes  = "0123456789"
	letterBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

var (
	digits = classOf(digitBytes)
	plain  = classOf(digitBytes + letterBytes)
	inWord = classOf(digitBytes + letterBytes + "_")
	dashed = classOf(digitBytes + letterBytes + "_-")      // keys, and the names of values
	coded  = classOf(digitBytes + letterBytes + "._~+/=-") // base64 and the like
	blanks = classOf(" \t")
	spaces = classOf(" \t\r\n")
	notHex = classOf(digitBytes + "abcdefABCDEF").but()
)

// run is where a run of a class ends that begins at a place.
func (t *masking) run(at int, c *class) int {
	return t.runOf(at, len(t.s)-at, c)
}

// runOf is run for at most so many bytes.
func (t *masking) runOf(at, most int, c *class) int {
	from, end := at, min(len(t.s), at+most)
	for at < end && c[t.s[at]] {
		at++
	}
	t.looked += at - from + 1
	return at
}

// has tells whether a byte of a class is in a text.
func has(s string, c *class) bool {
	for i := range len(s) {
		if c[s[i]] {
			return true
		}
	}
	return false
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
