package redact

import "strings"

// named is the value of something whose name says that it is a secret.
func named(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	from, to, _ = t.value(end)
	switch {
	case to-from < leastNamed:
		return 0, 0, end
	case t.noPassword(t.lower[at:end], from, to):
		return 0, 0, max(end, to)
	}
	return from, to, max(end, to)
}

// leastNamed is the length of a value that is worth masking where its name
// says what it is; leastKey where the name alone says too little, as token
// does, which many things are called.
const (
	leastNamed = 6
	leastKey   = 16
)

// namedKey is the value of a token or key. max_tokens, tokenizer and the like
// are none, nor is a value that is short, has no digit or is an expression.
func namedKey(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	before := max(0, at-16)
	name := strings.TrimRight(t.lower[before:end], digitBytes)
	t.looked += at - before
	if !endsWith(name, "token", "key") {
		return 0, 0, end
	}
	of := ""
	if whose, ok := strings.CutSuffix(name, "token"); ok {
		of = strings.TrimRight(whose, "_-")
	}
	if endsWith(of, "page", "next", "continuation") { // where a list goes on
		return 0, 0, end
	}
	if endsWith(of, "auth", "access", "refresh", "session") {
		return named(t, at)
	}
	from, _, _ = t.opened(end)
	if from == 0 || !t.keyAt(from) {
		return 0, 0, end
	}
	to = t.run(from, keyBytes)
	return from, to, to
}

var (
	keyBytes  = classOf(digitBytes + letterBytes + "._~+/=:-")
	behindKey = classOf(" \t\r\n\"'\\,;&)]}`|")
)

// judged is how much of a value is looked at to tell whether it is a key: its
// end is looked for only where it is one, or a text that is made of names
// would be gone through to its end for each of them.
const judged = 64

// keyAt tells whether what begins at a place looks like a key.
func (t *masking) keyAt(at int) bool {
	end := t.runOf(at, judged, keyBytes)
	value := t.s[at:end]
	return len(value) >= leastKey && has(value, digits) && !strings.Contains(value, "://") &&
		(len(value) == judged || end == len(t.s) || behindKey[t.s[end]])
}

func endsWith(s string, ends ...string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}

// namedShort is the value of pwd, which is the name of a directory too.
func namedShort(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	if end != at+len("pwd") {
		return 0, 0, end
	}
	from, to, sign := t.value(end)
	value := t.s[from:to]
	if to-from < leastNamed {
		return 0, 0, end
	}
	if sign == ':' && !quoted(t.s, from) || strings.ContainsAny(value[:1], `/~.$`) || strings.HasPrefix(value[1:], `:`) {
		return 0, 0, max(end, to)
	}
	return from, to, max(end, to)
}

func quoted(s string, at int) bool { return at > 0 && (s[at-1] == '"' || s[at-1] == '\'') }

// opened is where the value behind a name begins: name = value, "name": "value",
// name := 'value', env["name"] = "value", {\"name\":\"value\"}. Its quote, backslashes
// included, begins at quote. from is 0 where no value follows: name == other
// and name => other have one only in quotes, 'name' => 'value'.
func (t *masking) opened(at int) (from, quote int, sign byte) {
	at = t.run(at, backslashes)
	if at < len(t.s) && (t.s[at] == '"' || t.s[at] == '\'') {
		at++
	}
	if at < len(t.s) && t.s[at] == ']' {
		at++
	}
	at = t.runOf(at, 2, stars) // **name**: value
	at = t.run(at, blanks)
	if at >= len(t.s) || t.s[at] != ':' && t.s[at] != '=' {
		return 0, 0, 0
	}
	sign = t.s[at]
	name := at
	at = t.run(at, signs)
	compared := at-name > 1 && t.s[name] == '='
	if end := t.runOf(at, 2, stars); end == at+2 && end < len(t.s) && blanks[t.s[end]] { // **name:** value
		at = end
	}
	if blank := t.run(at, blanks); blank > at || blank < len(t.s) && !spaces[t.s[blank]] {
		at = blank
	} else {
		at = min(len(t.s), at+1) // the value of a name is on the next line
	}
	quote = at
	if i := t.run(at, backslashes); i < len(t.s) && (t.s[i] == '"' || t.s[i] == '\'') {
		at = i + 1
	} else if compared {
		return 0, 0, 0
	}
	return at, quote, sign
}

var (
	backslashes = classOf(`\`)
	signs       = classOf(":=>")
	stars       = classOf("*")
)

// value is the value behind a name, and the sign between them.
func (t *masking) value(at int) (from, to int, sign byte) {
	from, quote, sign := t.opened(at)
	if from == 0 {
		return 0, 0, 0
	}
	if from > quote {
		if to = t.closed(from, from-1-quote); to > 0 {
			return from, to, sign
		}
	}
	return from, t.ended(from), sign
}

// longestQuoted is how far the end of a quoted value is looked for.
const longestQuoted = 512

// closed is where a quoted value ends, 0 where its quote is not closed on the
// line: at the same quote behind as many backslashes, or at one behind fewer,
// which ends what the value stands in.
func (t *masking) closed(from, escapes int) int {
	quote, slashes := t.s[from-1], 0
	for at := from; at < min(len(t.s), from+longestQuoted); at++ {
		t.looked++
		switch b := t.s[at]; {
		case b == '\n':
			return 0
		case b == '\\':
			slashes++
			continue
		case b == quote && (slashes <= escapes || escapes == 0 && slashes%2 == 0):
			return at - slashes
		}
		slashes = 0
	}
	return 0
}

var (
	bytesOfValue = classOf(" \t\r\n\f\v\"'\\;},&").but()
	afterComma   = classOf(" \t\r\n\"'\\}])")
)

// ended is where a value ends that is not quoted. A comma is a part of it
// unless nothing or another name follows.
func (t *masking) ended(at int) int {
	for {
		at = t.run(at, bytesOfValue)
		if at >= len(t.s) || t.s[at] != ',' && t.s[at] != '&' {
			return at
		}
		if at+1 >= len(t.s) || afterComma[t.s[at+1]] || t.nameFollows(at+1) {
			return at
		}
		at++
	}
}

// nameFollows tells whether a name with a value begins at a place.
func (t *masking) nameFollows(at int) bool {
	end := min(at+32, len(t.s))
	for i := at; i < end && (dashed[t.s[i]] || t.s[i] == '.'); i++ {
		t.looked++
		if i+1 < len(t.s) && (t.s[i+1] == '=' || t.s[i+1] == ':') {
			return true
		}
	}
	return false
}
