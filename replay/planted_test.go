package replay

import (
	"regexp"
	"testing"
)

// TestPlantedSentences: half of them have the usual words of a rule, half have
// none, and none occurs twice.
func TestPlantedSentences(t *testing.T) {
	usual := regexp.MustCompile(`(?i)\b(never|must|always|only|required|unless|do not|don't|before you)\b`)
	seen := map[string]bool{}
	for i, s := range planted {
		if got, want := usual.MatchString(s), i < len(planted)/2; got != want {
			t.Errorf("%q has a usual word: %v", s, got)
		}
		if seen[s] {
			t.Errorf("%q is there twice", s)
		}
		seen[s] = true
	}
}
