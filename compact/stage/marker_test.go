package stage

import (
	"strings"
	"testing"
)

func TestMarkersAreRecognised(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		if got := isElided(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	f(elided(4096, ofResult), true)
	f(elided(0, ofProse), true)
	f(superseded, true)
	f("", false)
	f(" "+elided(1, ofResult), false)
	f(elided(1, ofResult)+".", false)
	f(superseded+" or so", false)
	f("(elided: bytes of tool result)", false)
	f("(elided: -1 bytes of tool result)", false)
	f("(elided: 12 bytes of nothing)", false)
	f("(elided: "+strings.Repeat("9", 200)+" bytes of tool result)", false)
	f("(elided: 3 bytes of tool results)", false)
	f("(elided: 3 bytes of tool result; x", false)
	f("(elided: 3 bytes of tool result; x\ny)", false)
	f("(elided: 3 bytes of tool result; "+strings.Repeat("x", maxMarkerBytes)+")", false)
}

// TestOnlyTrueNoticesClip: a tool result that quotes a notice, this test file
// for one, is a whole text.
func TestOnlyTrueNoticesClip(t *testing.T) {
	f := func(text string, wholeSize int) {
		t.Helper()
		c := clipOf(text)
		if !c.whole() || c.size != wholeSize {
			t.Errorf("%q counts as clipped from %d bytes", text, c.size)
		}
		if c.String() != text {
			t.Errorf("%q became %q", text, c.String())
		}
	}
	for _, text := range []string{
		"", "plain",
		"[trimmed: 100 bytes of tool result, the first 5 are left]",
		"abcde\n[trimmed: 100 bytes of tool result, the first 6 are left]",
		"abcde\n[trimmed: 100 bytes of tool result, the first 5 are left] and more",
		"abcde\n[trimmed: 100 bytes of tool result, the first 5 and the last 3 are left]\nwxyz",
		"abcde\n[trimmed: 8 bytes of tool result, the first 5 and the last 3 are left]\nxyz",
		"abcde\n[trimmed: -9 bytes of tool result, the first 5 and the last 3 are left]\nxyz",
		"abcde\n[trimmed: 100 bytes of tool result, the first 5 and the last -3 are left]\nxyz",
		"abcde\n[trimmed: 100 bytes of tool result, the first 5 and the last 99999999999999999999 are left]\nxyz",
		"abcde\n[trimmed: 0100 bytes of tool result, the first 5 and the last 3 are left]\nxyz",
		"abcde[trimmed: 100 bytes of tool result, the first 5 are left]",
		strings.Repeat("[trimmed: ", 1000),
	} {
		f(text, len(text))
	}
	true1 := "abcde\n[trimmed: 100 bytes of tool result, the first 5 and the last 3 are left]\nxyz"
	if c := clipOf(true1); c.size != 100 || c.head != "abcde" || c.tail != "xyz" || c.String() != true1 {
		t.Errorf("%+v", c)
	}
	true2 := "ab\n[trimmed: 9 bytes of quotes]\nc\n[trimmed: 100 bytes of tool result, the first 33 are left]"
	if c := clipOf(true2); c.size != 100 || c.tail != "" || len(c.head) != 33 {
		t.Errorf("a notice behind a quoted one: %+v", c)
	}
}

func TestKeepCutsBetweenLinesAndCharacters(t *testing.T) {
	f := func(text string, head, tail int, wantHead, wantTail string) {
		t.Helper()
		c := clipOf(text).keep(head, tail)
		if c.head != wantHead || c.tail != wantTail || c.size != len(text) {
			t.Errorf("%q to %d and %d: %q and %q of %d", text, head, tail, c.head, c.tail, c.size)
		}
		if again := clipOf(c.String()); !c.whole() && again != c {
			t.Errorf("%q is read back as %+v", c.String(), again)
		}
	}
	f("short", 3, 2, "short", "")
	f("0123456789", 3, 2, "012", "89")
	f("0123456789", 4, 0, "0123", "")
	f("0123456789", 0, 4, "", "6789")
	f("äöüßäöüßäöüß", 3, 2, "äöü", "üß")
	f("1234567890123\nx"+strings.Repeat("y", 20)+"z\n87654321", 15, 10, "1234567890123", "87654321")
	f("1\n345678901"+strings.Repeat("y", 20), 8, 0, "1\n345678", "")
}
