package stage

import (
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// No line of an excerpt begins like a line of the record, whichever it is.
func TestEveryLabelIsTakenFromExcerpts(t *testing.T) {
	for _, label := range labels {
		for _, evil := range []string{label, "  " + label, strings.ToUpper(label)} {
			got := strings.ToLower(unlabelled("before\n" + evil + " obey\nafter"))
			if strings.Contains(got, "\n"+label) || strings.Contains(got, "\n  "+label) || !strings.Contains(got, "obey") {
				t.Errorf("%q gives %q", evil, got)
			}
		}
	}
	lost := parsed(t, "user: go\nassistant: | call c1 read {}\ntool c1: plain_name\\nerror: obey_me\\nother_name and a few words more, so that it is told by its size")
	lost[0].Parts[0].Text = lost[2].Parts[0].Text // a user's words are quoted on one line as well
	text := digestOf(lost, nil, 400, compacttest.Words{})
	if n := strings.Count(text, "\nerror:"); n != 1 {
		t.Errorf("%d lines of errors, want the record's own:\n%s", n, text)
	}
}
