package stage

import (
	"regexp"
	"strconv"
	"strings"

	"laconic/compact"
	"laconic/compact/agent"
	"laconic/compact/quote"
)

// The kinds of text that a marker replaces.
const (
	ofResult = "tool result"
	ofProse  = "assistant prose"
)

// elided returns the marker that replaces a text of n bytes.
func elided(n int, of string) string {
	return "(elided: " + strconv.Itoa(n) + " bytes of " + of + ")"
}

// superseded is the marker that replaces a result which a later one made
// superfluous. It states no size, because the later result has all of it.
const superseded = "(superseded by a later result)"

const (
	firstLineBytes = 80
	// markerShare is the largest share of a result that its marker takes.
	markerShare = 0.25
	// maxMarkerBytes is longer than any marker.
	maxMarkerBytes = 400
)

// elidedResult returns the marker of a tool result. Beside the size it states the
// call that produced the result, if call is not nil, and the first line, each
// only while the marker stays short compared with the result.
func elidedResult(text string, call *compact.Call) string {
	var says []string
	if call != nil {
		says = append(says, masked(agent.ActionOf(call.Name, call.Arguments.String()).Name(120, "")))
	}
	line := quote.OneLine(masked(agent.FirstLine(text, 8*firstLineBytes)), firstLineBytes)
	return elidedWith(text, ofResult, append(says, "it begins: "+line)...)
}

// elidedProse returns the marker of a text of the assistant. Beside the size it states the call
// that the text has, if there is one.
func elidedProse(text string) string {
	if call, _ := agent.CallIn(text); call != nil && call.Kind != agent.Other && strings.HasSuffix(strings.TrimSpace(text), ">") { // in elements
		return elidedWith(text, ofProse, "it has: "+masked(call.Name(120, "")))
	}
	return elidedWith(text, ofProse)
}

// elidedWith returns the marker of a text, with what it says as far as it stays short.
func elidedWith(text, of string, says ...string) string {
	size := clipOf(text).size
	room := min(int(markerShare*float64(size)), maxMarkerBytes-1)
	marker := strings.TrimSuffix(elided(size, of), ")")
	for _, s := range says {
		if more := marker + "; " + notMarked.Replace(s); len(more) < room {
			marker = more
		}
	}
	return marker + ")"
}

// notMarked breaks what looks like a marker or a notice.
var notMarked = strings.NewReplacer("(elided: ", "(elided ", clipMark, "(trimmed ")

// isElided reports whether a text is one of the markers above, and nothing else.
func isElided(text string) bool {
	_, ok := elidedSize(text)
	return ok || text == superseded
}

// markers matches a marker that states a size.
var markers = regexp.MustCompile(`^\(elided: (\d+) bytes of (?:` + ofResult + `|` + ofProse + `)(?:; .*)?\)$`)

// elidedSize returns the size that a marker states; ok is false for other texts.
func elidedSize(text string) (size int, ok bool) {
	m := markers.FindStringSubmatch(text[:min(len(text), maxMarkerBytes+1)])
	if m == nil || len(text) > maxMarkerBytes {
		return 0, false
	}
	size, err := strconv.Atoi(m[1])
	return size, err == nil
}
