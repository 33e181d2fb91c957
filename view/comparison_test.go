package view

import (
	"strings"
	"testing"
)

// TestTextsAreBounded: each text is kept once and cut at a character, and once there
// are enough of them an excerpt of each other has to do. What is missing is said.
func TestTextsAreBounded(t *testing.T) {
	var c Comparison
	long := strings.Repeat("é", longestText)
	p := c.Piece("", long)
	if got := c.Texts[p.Text]; got != long[:longestText] || p.Cut != longestText {
		t.Errorf("%d bytes, %d are missing", len(got), p.Cut)
	}
	if again := c.Piece("", long); again != p || len(c.Texts) != 1 {
		t.Errorf("%+v, not %+v", again, p)
	}
	if none := c.Piece("picture", ""); none.Text != -1 || none.Kind != "picture" {
		t.Errorf("%+v", none)
	}
	for i := range 2 * mostText / longestText {
		c.Piece("", strings.Repeat("x", longestText+i))
	}
	if last := c.Texts[len(c.Texts)-1]; len(last) != excerpt {
		t.Errorf("%d bytes of a text that is too many", len(last))
	}
	total := 0
	for _, text := range c.Texts {
		total += len(text)
	}
	if total > mostText+2*longestText {
		t.Errorf("%d bytes of texts", total)
	}
	c.ID = strings.Repeat("c", 1<<20)
	c.Miss(0, "nothing")
	c.Miss(2, "two things")
	c.Finish()
	if len(c.ID) > longestName+3 || len(c.Missing) != 2 || c.Missing[0] != "two things" || !strings.Contains(c.Missing[1], " long texts: ") {
		t.Errorf("%d bytes of a name; missing %q", len(c.ID), c.Missing)
	}
}
