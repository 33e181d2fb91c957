package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"laconic/tokenize"
	"laconic/tokenize/cache"
)

// benched are the tokenizers that --bench times, one of each kind. Some count
// with the tables of one above them.
var benched = []struct {
	name   string
	warmed bool
}{{"o200k_base", false}, {"cl100k_base", false}, {"o200k*1.2+digits", true}, {"bytes/3.5", false}}

// benchCounters prints how fast a text is counted: once, as it is when it was
// never seen before, and again and again, when its words are still in the
// processor's caches; last, when its count is remembered. Tables that an
// earlier counter built and warmed have no first time any more.
func benchCounters(w io.Writer, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		fmt.Fprintf(w, "%s is empty: 0 tokens\n", file)
		return nil
	}
	fmt.Fprintf(w, "%s, %d bytes, one core, MB/s (10^6 bytes)\n\n", file, len(text))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "counter\ttokens\tload ms\tfirst\tagain\t\n")
	for _, b := range benched {
		k, err := tokenize.Named(b.name)
		if err != nil {
			return err
		}
		began := time.Now()
		k.Load()
		load := time.Since(began)
		if !k.Reads() {
			fmt.Fprintf(t, "%s\t%d\t\t-\t-\t\n", b.name, k.Bytes(len(text))) // it only needs the length
			continue
		}
		tokens := 0
		count := func() { tokens = k.TextBytes(text) }
		first := timed(count)
		loaded, once := fmt.Sprint(load.Milliseconds()), rate(text, first)
		if b.warmed {
			loaded, once = "-", "-"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t\n", b.name, tokens, loaded, once, rate(text, again(count)))
	}
	texts := cache.New(0).Texts("bench")
	tokens := 0
	seen := func() {
		tokens, _ = texts.Count(string(text), func(s string) int { return tokenize.For("gpt-4o").Text(s) })
	}
	seen()
	fmt.Fprintf(t, "remembered\t%d\t\t\t%s\t\n", tokens, rate(text, again(seen)))
	return t.Flush()
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// again is the median of many runs, for half a second at the most.
func again(f func()) time.Duration {
	var runs []time.Duration
	for began := time.Now(); len(runs) < 3 || len(runs) < 1_000 && time.Since(began) < 500*time.Millisecond; {
		runs = append(runs, timed(f))
	}
	slices.Sort(runs)
	return runs[len(runs)/2]
}

func rate(text []byte, d time.Duration) string {
	return fmt.Sprintf("%.0f", float64(len(text))/1e6/max(d.Seconds(), 1e-9))
}
