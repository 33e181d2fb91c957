package survival

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

// row is one line of the table: the mean of some sessions.
type row struct {
	name  string
	sums  [columns]float64
	count [columns]int
}

// The columns of the table, in their order.
const (
	newestWhole = iota
	newestCut
	newestGone
	portThere
	testThere
	firstThere
	ruleThere
	letterThere
	causeThere
	reasonThere
	trailThere
	undoneTold
	couldReport
	epochsBegun
	refusedThere
	refusedSeen
	columns
)

var heads = [columns]string{"whole", "cut", "gone", "port", "test", "first", "rule", "letter", "cause", "reason", "trail", "undone", "report", "epochs", "refused", "seen"}

// add takes a session in. Each session counts as much as any other: the shares
// are its own means. Survival counts from the first fold on.
func (r *row) add(s *session) {
	var mean row
	from := len(s.verdicts)
	for i, v := range s.verdicts {
		if v.folded {
			from = i
			break
		}
	}
	for _, v := range s.verdicts[from:] {
		if v.newest != none {
			mean.put(newestWhole, share(v.newest == whole))
			mean.put(newestCut, share(v.newest == cut))
			mean.put(newestGone, share(v.newest == gone))
		}
		for column, value := range v.shares {
			mean.put(column, value)
		}
	}
	for column := range refusedThere {
		if mean.count[column] > 0 {
			r.put(column, mean.mean(column))
		}
	}
	if from < len(s.verdicts) {
		r.put(couldReport, share(s.verdicts[len(s.verdicts)-1].canReport))
	}
	r.put(epochsBegun, float64(s.epochs))
	r.put(refusedThere, float64(s.refused))
	r.put(refusedSeen, float64(s.seen))
}

func (r *row) put(column int, value float64) {
	r.sums[column] += value
	r.count[column]++
}

func (r *row) mean(column int) float64 { return r.sums[column] / float64(max(1, r.count[column])) }

// join takes in the sessions of another row.
func (r *row) join(other *row) {
	for column := range columns {
		r.sums[column] += other.sums[column]
		r.count[column] += other.count[column]
	}
}

// table writes rows as Markdown. Shares are in percent; epochs and refusals are
// a session's.
func table(first string, rows []*row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", first, strings.Join(heads[:], " | "), strings.Repeat("---:|", columns))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.name)
		for column := range columns {
			switch {
			case r.count[column] == 0:
				b.WriteString(" – |")
			case column >= epochsBegun:
				fmt.Fprintf(&b, " %.1f |", r.mean(column))
			default:
				fmt.Fprintf(&b, " %.1f |", 100*r.mean(column))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var update = flag.Bool("update", false, "write the tables into docs/survival.md")

// publish puts a table into the page that shows it, where -update asks for it.
func publish(t *testing.T, mark, text string) {
	t.Helper()
	if *update {
		rig.Publish(t, "../../docs/survival.md", mark, func(string) string { return text })
	}
}
