// Package number writes numbers for people.
package number

import (
	"strconv"
	"strings"
)

// Of writes 1234567 as 1,234,567.
func Of[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes "1 request", "1,234 requests" or "2 summaries".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "ry"); ok {
		return Of(n) + " " + stem + "ries"
	}
	return Of(n) + " " + what + "s"
}
