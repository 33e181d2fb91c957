// Command benchmark measures how fast package tokenize counts texts that it sees for the first time, beside
// github.com/tiktoken-go/tokenizer in the same run, and prints a Markdown table.
//
// It is a module of its own, so that the other library is no dependency of Laconic. The texts are what is on the
// machine: Go's sources and documentation, the scripts of npm, recorded conversations, and for the languages the manual
// pages and the message catalogs of installed programs. What is not there is left out, with a line that says so.
//
// A text is counted in messages of 64 KiB, and before each round everything is forgotten that counting remembers.
// Megabytes per second are of processor time, which other programs disturb least; the ratio is given of that and of
// time on the wall. All are medians.
//
//	make bench-tokenize BENCH='-json folder'
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"laconic/tokenize"

	"github.com/tiktoken-go/tokenizer"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often each text is counted")
	size := flag.Int("size", 4_000_000, "bytes of each text")
	recorded := flag.String("json", "", "`folder` of recorded conversations, .jsonl")
	flag.Parse()
	if err := run(*rounds, *size, *recorded); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(rounds, size int, recorded string) error {
	if _, err := os.Stat(recorded); recorded != "" && err != nil {
		return err
	}
	load()
	texts := collect(size, recorded)
	for _, pair := range []struct {
		ours   *tokenize.Encoding
		theirs tokenizer.Encoding
	}{
		{tokenize.O200k(), tokenizer.O200kBase},
		{tokenize.Cl100k(), tokenizer.Cl100kBase},
	} {
		other, err := tokenizer.Get(pair.theirs)
		if err != nil {
			return err
		}
		ours := func(text string) (int, error) { return pair.ours.CountString(text), nil }
		if err := compare(pair.ours.Name(), texts, ours, other.Count, rounds); err != nil {
			return err
		}
		hostile(pair.ours, rounds)
	}
	return nil
}

// load prints what it costs to make the tables.
func load() {
	before := heap()
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		start, processor := time.Now(), processorTime()
		tokenize.EncodingNamed(name)
		fmt.Printf("%s: tables made in %d ms, %d ms of processor time\n", name,
			time.Since(start).Milliseconds(), (processorTime() - processor).Milliseconds())
	}
	fmt.Printf("both take %.1f MB of heap\n\n", float64(heap()-before)/1e6)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
