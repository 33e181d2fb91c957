package redact

import (
	"regexp"
	"strings"
)

// prefix is what the keys of a provider begin with, in the case they have.
type prefix struct {
	text  string
	least int // how many bytes follow it
	sure  int // what must be among them, for names begin so too
}

const (
	anything = iota
	oneDigit // or a long run, as below
	longRun  // of letters and digits
)

var prefixes = []prefix{
	{"sk-", 20, oneDigit},
	{"sk_", 16, longRun},
	{"pk_", 16, longRun},
	{"rk_", 16, longRun},
	{"gsk_", 16, longRun},
	{"xai-", 20, oneDigit},
	{"ghp_", 16, anything},
	{"gho_", 16, anything},
	{"ghu_", 16, anything},
	{"ghs_", 16, anything},
	{"ghr_", 16, anything},
	{"github_pat_", 16, anything},
	{"glpat-", 16, anything},
	{"npm_", 16, longRun},
	{"hf_", 16, longRun},
	{"AKIA", 16, longRun},
	{"ASIA", 16, longRun},
	{"AIza", 30, anything},
	{"xoxa-", 10, anything},
	{"xoxb-", 10, anything},
	{"xoxe-", 10, anything},
	{"xoxo-", 10, anything},
	{"xoxp-", 10, anything},
	{"xoxr-", 10, anything},
	{"xoxs-", 10, anything},
	{"xapp-", 10, oneDigit},
}

// prefixed is a key that begins with what its provider begins keys with.
func prefixed(t *masking, at int) (from, to, next int) {
	end := t.run(at, dashed)
	for i := range prefixes {
		p := &prefixes[i]
		if !strings.HasPrefix(t.s[at:end], p.text) {
			continue
		}
		body := t.s[at+len(p.text) : end]
		t.looked += len(body)
		switch long := hasLongRun(body); {
		case p.sure == longRun && long, p.sure == oneDigit && len(body) >= p.least && has(body, digits),
			p.sure == oneDigit && long, p.sure == anything && len(body) >= p.least:
			return at, end, end
		}
	}
	// What begins later in this run would be shorter still.
	return 0, 0, end
}

// hasLongRun tells whether 16 letters and digits stand in a row.
func hasLongRun(s string) bool {
	n := 0
	for i := range len(s) {
		if n++; !plain[s[i]] {
			n = 0
		}
		if n >= 16 {
			return true
		}
	}
	return false
}

// dotted is a token of parts with dots between them.
func dotted(t *masking, at int) (from, to, next int) {
	first := t.run(at, dashed)
	second, parts := 8, 2 // the least length of the second part, the least number
	switch {
	case strings.HasPrefix(t.s[at:first], "eyJ") && first-at >= len("eyJ")+8:
	case t.s[at:first] == "SG":
		second, parts = 16, 3
	default:
		return 0, 0, first
	}
	end := first
	for n := 1; n < 5 && end < len(t.s) && t.s[end] == '.'; n++ {
		part := t.run(end+1, dashed)
		if n == 1 && part-end-1 < second {
			break
		}
		end = part
		parts--
	}
	if parts > 1 {
		return 0, 0, first
	}
	return at, end, end
}

// inURL is the password of user:password in a URL.
func inURL(t *masking, at int) (from, to, next int) {
	at += len("://")
	end := t.run(at, bytesOfUser)
	user, rest, ok := strings.Cut(t.s[at:end], ":")
	length := strings.LastIndexByte(rest, '@')
	if !ok || length < 1 || strings.Contains(user, "@") {
		return 0, 0, end
	}
	from = at + len(user) + 1
	return from, from + length, end
}

var bytesOfUser = classOf(" \t\r\n\f\v/\"'<>").but()

var passwordInCommand = regexp.MustCompile(`\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'\\]*:([^\s"'\\]{3,})`)

// longestCommand is how far from its name the options of a command are looked
// for.
const longestCommand = 4096

// inCommand is the password of curl -u user:password.
func inCommand(t *masking, at int) (from, to, next int) {
	end := min(len(t.s), at+longestCommand)
	for i := at + 5; i < end; i++ {
		if t.s[i] == '\n' && t.s[i-1] != '\\' || strings.HasPrefix(t.lower[i:], "curl ") {
			end = i
		}
	}
	t.looked += end - at
	if m := passwordInCommand.FindStringSubmatchIndex(t.s[at:end]); m != nil {
		return at + m[2], at + m[3], end
	}
	return 0, 0, end
}
