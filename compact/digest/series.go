package digest

import (
	"fmt"
	"strconv"
)

// mostPoints is how many pairs of a list are told one by one.
const mostPoints = 12

// series returns what a list of pairs shows, each with a number behind a time or a place, on
// one line: the ends, the least, the largest and the largest step. It returns "" for other
// lists, and for short ones.
func (v *value) series() string {
	if v.kind != '[' || len(v.list) <= mostPoints {
		return ""
	}
	least, most, step, before, far := 0, 0, 1, 0.0, -1.0
	numbers := make([]float64, len(v.list))
	for i := range v.list {
		pair := v.list[i].list
		if v.list[i].kind != '[' || len(pair) != 2 || pair[0].list != nil || pair[1].list != nil {
			return ""
		}
		n, err := strconv.ParseFloat(pair[1].text, 64)
		if err != nil {
			return ""
		}
		if numbers[i] = n; n < numbers[least] {
			least = i
		}
		if n > numbers[most] {
			most = i
		}
		if by := max(n-before, before-n); i > 0 && by > far {
			step, far = i, by
		}
		before = n
	}
	at := func(i int) string { return v.list[i].list[0].text + " " + v.list[i].list[1].text }
	return fmt.Sprintf("%d points, %s to %s; least %s, most %s, largest step %s → %s",
		len(v.list), at(0), at(len(v.list)-1), at(least), at(most), at(step-1), at(step))
}
