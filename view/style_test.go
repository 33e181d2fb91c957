package view

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var (
	theme  = regexp.MustCompile(`:root \{([^}]*)\}`)
	colour = regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6})`)
)

// TestTextsCanBeRead: each colour of text has the contrast to each ground that WCAG
// asks for, in both themes, and so have the marks that say something by their colour.
func TestTextsCanBeRead(t *testing.T) {
	css, err := Files.ReadFile("static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	luminance := func(hex string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	themes := theme.FindAllStringSubmatch(string(css), -1)
	if len(themes) != 2 {
		t.Fatalf("%d themes", len(themes))
	}
	for i, name := range []string{"light", "dark"} {
		of := map[string]string{}
		for _, c := range colour.FindAllStringSubmatch(themes[i][1], -1) {
			of[c[1]] = c[2]
		}
		check := func(least float64, colours, grounds []string) {
			t.Helper()
			for _, c := range colours {
				for _, g := range grounds {
					a, b := luminance(of[c]), luminance(of[g])
					if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
						t.Errorf("%s: %s on %s has %.2f, not %g", name, c, g, ratio, least)
					}
				}
			}
		}
		check(4.5, []string{"text", "dim", "link", "good", "warn", "bad", "limit", "before"}, []string{"ground", "raised", "faint", "mark"})
		check(3, []string{"cached", "before", "limit", "system", "user", "assistant", "tool", "record", "focus"}, []string{"ground", "raised"})
	}
}
