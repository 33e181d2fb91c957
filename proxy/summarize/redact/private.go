package redact

import (
	"regexp"
	"strings"
)

// longestKey bounds a private key: what names the head of one and has no end
// is no reason to leave out the rest of a text.
const longestKey = 16 << 10

// leastLine is how many letters of base64 in a row make a line of a key.
const leastLine = 16

var (
	headOfKey = regexp.MustCompile(`^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	footOfKey = regexp.MustCompile(`^-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	// linesOfArmor stand between the head of a key and its base64.
	linesOfArmor = regexp.MustCompile(`^(?:\s|\\[nr])*(?:(?:Version|Comment|Charset|MessageID|Hash|Proc-Type|DEK-Info): [^\n\\]*(?:\n|(?:\\r)?\\n))+`)

	base64Bytes = classOf(digitBytes + letterBytes + "+/=")
	// betweenLines are blanks, and what quotes, escapes, joins and numbers the
	// lines of a key in code, diffs and the output of tools: the arrow too.
	betweenLines = classOf(" \t\r\n\\+,:|>-\"'`#→")
	bytesOfKey   = union(base64Bytes, betweenLines)
)

// privateKey is a key in PEM: from its head to its foot where nothing but a key
// stands between them. Code and prose name the head alone, and keys are cut
// off; there it is the lines of base64 behind the head, if there are any.
func privateKey(t *masking, at int) (from, to, next int) {
	head := len(headOfKey.FindString(t.s[at:min(len(t.s), at+96)]))
	t.looked += 96
	if head == 0 {
		return 0, 0, at
	}
	body := at + head
	armor := len(linesOfArmor.FindString(t.s[body:min(len(t.s), body+512)]))
	t.looked += armor + 32
	body += armor
	end := t.endOfBody(body)
	foot := len(footOfKey.FindString(t.s[end:min(len(t.s), end+96)]))
	t.looked += 96
	if foot > 0 {
		return at, end + foot, end + foot
	}
	if to = t.linesOfKey(body, end); to > 0 {
		return at, to, end
	}
	return 0, 0, end
}

// endOfBody is the first place that is no part of the body of a key. Dashes
// begin the next head or foot there, so no byte is gone through for two keys.
func (t *masking) endOfBody(from int) int {
	at, end := from, min(len(t.s), from+longestKey)
	for at < end && bytesOfKey[t.s[at]] && (t.s[at] != '-' || !strings.HasPrefix(t.s[at:], "-----")) {
		at++
	}
	t.looked += at - from + 1
	return at
}

// linesOfKey is where the lines of base64 end that begin at a place, 0 where
// the first is none. A short one is the last.
func (t *masking) linesOfKey(at, end int) (to int) {
	for at < end {
		at = t.toNextLine(at, end)
		line := t.runOf(at, end-at, base64Bytes)
		switch long := line-at >= leastLine; {
		case long:
			to = line
		case to > 0 && line > at && (line == len(t.s) || t.s[line-1] == '='):
			return line
		default:
			return to
		}
		at = line
	}
	return to
}

// toNextLine goes over what stands between two lines, the number of a line and
// the letter of an escape included.
func (t *masking) toNextLine(at, end int) int {
	from := at
	for at < end {
		number := t.runOf(at, min(end-at, 7), digits)
		switch {
		case t.s[at] == '\\' && at+1 < end && strings.IndexByte("nrt", t.s[at+1]) >= 0:
			at += 2
		case betweenLines[t.s[at]]:
			at++
		case number > at && number < end && betweenLines[t.s[number]] && t.s[number] != '+':
			at = number
		default:
			t.looked += at - from
			return at
		}
	}
	t.looked += at - from
	return at
}
