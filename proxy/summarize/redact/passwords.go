package redact

import (
	"regexp"
	"strings"
)

// mostBlanks is how many blanks a password may have. What has more is a
// sentence about one, but for a passphrase.
const mostBlanks = 3

// noPassword tells that what is called a password is none: the word for a
// type or an outcome, a sentence, or the expression that gives one.
func (t *masking) noPassword(name string, from, to int) bool {
	value := t.lower[from:min(to, from+longestQuoted)]
	t.looked += len(value)
	if plainWords[strings.Trim(value, "*&?[]|!.):`")] || reference.MatchString(value[:min(len(value), judged)]) {
		return true
	}
	if quoted(t.s, from) {
		return strings.HasPrefix(value, "password ") ||
			strings.Count(value, " ") > mostBlanks && !strings.Contains(name, "passphrase")
	}
	return expression.MatchString(value[:min(len(value), judged)])
}

// plainWords stand where a password is described, not given.
var plainWords = wordsOf(`string secretstr optional[str varchar number boolean undefined nullable required optional unknown
	passed failed failure skipped pending success missing invalid`)

// reference is the name of a value: ${NAME}, with no value beside it.
var reference = regexp.MustCompile(`^\$\{[a-z_][a-z0-9_]*\}?$`)

// expression is a call, a slice, or a value of the environment.
var expression = regexp.MustCompile(`^(?:\[\]|[a-z_][a-z0-9_.:>-]*\(|process\.env\b|os\.environ\b|import\.meta\.env\b)`)

func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(s) {
		words[w] = true
	}
	return words
}

// namedPass is the value of DB_PASS and the like. tests_pass and render_pass
// are none, so one in lower case must say whose it is.
func namedPass(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	if end-at > len("_pass") && has(t.s[at+len("_pass"):end], notDigits) ||
		t.s[at:at+len("_pass")] != "_PASS" && !endsWith(t.lower[max(0, at-5):at], "db", "smtp", "mail", "user", "ftp", "admin") {
		return 0, 0, end
	}
	return named(t, at)
}

// variable is the key in a variable of the environment, as AZURE_OPENAI_KEY.
// A key in a cache or a table is none.
func variable(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	if t.s[at:at+len("_key")] != "_KEY" || has(t.s[at+len("_key"):end], notDigits) ||
		endsWith(t.lower[max(0, at-16):at], "public", "primary", "foreign", "cache", "partition", "sort", "lookup", "idempotency") {
		return 0, 0, end
	}
	return t.longKey(end)
}

// spaced is the key behind "API key:" in prose.
func spaced(t *masking, at int) (from, to, next int) {
	return t.longKey(t.run(at+len("api"), blanks) + len("key"))
}

// longKey is the value behind a name where it has a long run of letters and
// digits, which names and paths have not.
func (t *masking) longKey(end int) (from, to, next int) {
	from, _, _ = t.opened(end)
	if from == 0 || !t.keyAt(from) {
		return 0, 0, end
	}
	t.looked += judged
	if !hasLongRun(t.s[from:min(len(t.s), from+judged)]) {
		return 0, 0, end
	}
	to = t.run(from, keyBytes)
	return from, to, to
}

// flagged is the value of --password in a command. Prose has the flag too, so
// one that is not quoted has a digit.
func flagged(t *masking, at int) (from, to, next int) {
	end := at + len("--password")
	from = t.run(end, blanks)
	if from == end || from >= len(t.s) {
		return 0, 0, from
	}
	if quote := t.run(from, backslashes); quote < len(t.s) && (t.s[quote] == '"' || t.s[quote] == '\'') {
		if to = t.closed(quote+1, quote-from); to-quote-1 >= leastNamed {
			return quote + 1, to, to
		}
		return 0, 0, from
	}
	to = t.run(from, bytesOfValue)
	t.looked += to - from
	if to-from < leastNamed || !has(t.s[from:to], digits) || strings.IndexByte("$<-%", t.s[from]) >= 0 {
		return 0, 0, to
	}
	return from, to, to
}

var notDigits = digits.but()
