package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// leastBearer is the length of a token of letters alone, which the words that
// follow "bearer" in prose do not have.
const leastBearer = 20

// bearer is a credential behind its scheme.
func bearer(t *masking, at int) (from, to, next int) {
	from = t.run(at+len("bearer"), blanks)
	to = t.run(from, coded)
	value := t.s[from:to]
	t.looked += len(value)
	if len(value) < 12 || !random(value) && (len(value) < leastBearer || has(value, notPlain)) {
		return 0, 0, from
	}
	return from, to, to
}

// basic is user:password in base64 behind its scheme. Much else follows the
// word, as in basic package.json.
func basic(t *masking, at int) (from, to, next int) {
	from = t.run(at+len("basic"), blanks)
	to = t.run(from, base64Bytes)
	if to-from < 12 || to+1 < len(t.s) && coded[t.s[to]] && plain[t.s[to+1]] {
		return 0, 0, to
	}
	t.looked += to - from
	said, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(t.s[from:to], "="))
	if err != nil || !utf8.Valid(said) || !strings.Contains(string(said), ":") {
		return 0, 0, to
	}
	return from, to, to
}

// random tells a value that nobody thought of from a word: "bearer
// authentication".
func random(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case digits[b], b == '=', b == '_', i > 0 && b >= 'A' && b <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z':
			return true
		case b == '.' && i+1 < len(s) && plain[s[i+1]]:
			return true
		}
	}
	return false
}

// authorized is the credential of an Authorization header, of any scheme.
func authorized(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	if end != at+len("authorization") {
		return 0, 0, end
	}
	if from, _, _ = t.opened(end); from == 0 {
		return 0, 0, end
	}
	first := t.runOf(from, judged, bytesOfField)
	if second := t.run(first, blanks); second > first && first-from <= 32 {
		to = t.runOf(second, judged, bytesOfField)
		if to-second < 8 || !random(t.s[second:to]) {
			return 0, 0, end
		}
		to = t.run(to, bytesOfField)
		if t.place(second, to) {
			return 0, 0, to
		}
		return second, to, to
	}
	if first-from < leastKey || !has(t.s[from:first], digits) {
		return 0, 0, end
	}
	to = t.run(first, bytesOfField)
	if t.place(from, to) {
		return 0, 0, to
	}
	return from, to, to
}

var bytesOfField = classOf(" \t\r\n\"'\\").but()

// place tells whether a value is an address, or a file by its extension, with
// the number of a line or without.
func (t *masking) place(from, to int) bool {
	t.looked += to - from
	value := strings.TrimRight(t.s[from:to], ".,;:)]}`")
	if strings.Contains(value, "://") {
		return true
	}
	if file, line, ok := strings.Cut(value, ":"); ok && !has(line, notDigits) {
		value = file
	}
	dot := strings.LastIndexByte(value, '.')
	return dot > 0 && isExtension(value[dot+1:])
}

// isExtension: one is short and in lower case, and begins with a letter.
func isExtension(s string) bool {
	return len(s) >= 1 && len(s) <= 4 && !has(s, notLower) && !digits[s[0]]
}

// leastCookie is the length of cookies that may be of a session: "theme=dark"
// is none.
const leastCookie = 12

// cookies are the values of a Cookie or Set-Cookie header.
func cookies(t *masking, at int) (from, to, next int) {
	end := at + len("cookie")
	if from, _, _ = t.opened(end); from == 0 {
		return 0, 0, end
	}
	name := t.run(from, nameOfCookie)
	if name == from || name >= len(t.s) || t.s[name] != '=' {
		return 0, 0, name
	}
	from = name + 1
	to = t.run(from, bytesOfCookie)
	for to < len(t.s) && t.s[to] == ';' {
		other := t.run(to+1, blanks)
		name = t.run(other, nameOfCookie)
		if name == other || name >= len(t.s) || t.s[name] != '=' {
			break
		}
		to = t.run(name+1, bytesOfCookie)
	}
	t.looked += to - from
	if to-from < leastCookie || !has(t.s[from:to], digits) || strings.Contains(t.s[from:to], "(") {
		return 0, 0, to
	}
	return from, to, to
}

var (
	bytesOfCookie = classOf(" \t\r\n\"'\\;`").but()
	nameOfCookie  = classOf(" \t\r\n\"'\\;`,=()").but()
	notPlain      = plain.but()
	notLower      = classOf(digitBytes + "abcdefghijklmnopqrstuvwxyz").but()
)
