package digest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// mostPoints is how many pairs of a list are told one by one.
const mostPoints = 12

// timeOf finds a time, a date or the seconds since 1970, as monitoring writes them.
var timeOf = regexp.MustCompile(`^(?:\d{9,}(?:\.\d+)?|\d+[:-]\d\d[\d:T.Z+ -]*)$`)

// series returns what a list of pairs shows, each of a time and a number, on one line: the
// ends, the least, the largest and the largest step. It returns "" for other lists, and for
// short ones.
func (v *value) series() string {
	if v.kind != '[' || len(v.list) <= mostPoints {
		return ""
	}
	least, most, step, far := 0, 0, 1, -1.0
	numbers := make([]float64, len(v.list))
	for i := range v.list {
		pair := v.list[i].list
		if v.list[i].kind != '[' || len(pair) != 2 || !timeOf.MatchString(pair[0].text) {
			return ""
		}
		n, err := strconv.ParseFloat(pair[1].text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || i > 0 && !isLater(pair[0].text, v.list[i-1].list[0].text) {
			return ""
		}
		if numbers[i] = n; n < numbers[least] {
			least = i
		}
		if n > numbers[most] {
			most = i
		}
		if i > 0 && math.Abs(n-numbers[i-1]) > far {
			step, far = i, math.Abs(n-numbers[i-1])
		}
	}
	at := func(i int) string { return v.list[i].list[0].text + " " + v.list[i].list[1].text }
	return fmt.Sprintf("%d points, %s to %s; least %s, most %s, largest step %s → %s",
		len(v.list), at(0), at(len(v.list)-1), at(least), at(most), at(step-1), at(step))
}

// isLater reports whether a time comes after another of the same form.
func isLater(t, before string) bool {
	a, errA := strconv.ParseFloat(t, 64)
	b, errB := strconv.ParseFloat(before, 64)
	if errA == nil && errB == nil {
		return a > b
	}
	return t > before
}
