package bpe

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// testdata/counts.txt has answers of OpenAI's own tokenizer, so that they are known where Node is not:
//
//	o200k_base <tab> cl100k_base <tab> times <tab> "text"
//
// are the numbers of tokens of the text, so many times in a row. The oracle compares the file, and rewrites it when
// go test is called with -update.
const countsFile = "testdata/counts.txt"

// A counted is one line of the file.
type counted struct {
	o200k, cl100k int
	times         int
	text          string
}

func (c counted) whole() string { return strings.Repeat(c.text, c.times) }

func (c counted) String() string {
	return fmt.Sprintf("%d\t%d\t%d\t%+q", c.o200k, c.cl100k, c.times, c.text)
}

func readCounts(t *testing.T) (all []counted) {
	t.Helper()
	file, err := os.Open(countsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var c counted
		var quoted string
		fields := strings.SplitN(lines.Text(), "\t", 4)
		if len(fields) == 4 {
			quoted = fields[3]
			_, err = fmt.Sscan(strings.Join(fields[:3], " "), &c.o200k, &c.cl100k, &c.times)
			if err == nil {
				c.text, err = strconv.Unquote(quoted)
			}
		}
		if len(fields) != 4 || err != nil {
			t.Fatalf("%s: %q: %v", countsFile, lines.Text(), err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func writeCounts(t *testing.T, all []counted) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# How many tokens OpenAI's tokenizer makes of texts: o200k_base, cl100k_base, times, text.\n")
	b.WriteString("# Written by: LACONIC_ORACLE=1 go test ./tokenize/bpe -run TestOracleGives -update\n")
	for _, c := range all {
		fmt.Fprintln(&b, c)
	}
	if err := os.WriteFile(countsFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// countedTexts are the texts of the file: samples of scripts, traps, runs of what the patterns ask about, and mixes of it.
func countedTexts() (all []counted) {
	for _, s := range scriptSamples {
		all = append(all, counted{times: 1, text: s})
	}
	for _, unit := range runUnits {
		for _, times := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1_000} {
			all = append(all, counted{times: times, text: unit})
		}
	}
	for text := range trapTexts {
		all = append(all, counted{times: 1, text: text})
	}
	n := 0
	for text := range brokenTexts {
		if n++; n%200 == 0 {
			all = append(all, counted{times: 1, text: text})
		}
	}
	for text := range fuzzTexts(60_000) {
		all = append(all, counted{times: 1, text: text})
	}
	return all
}

func TestCountsAreOpenAIs(t *testing.T) {
	all := readCounts(t)
	if len(all) < 1_000 {
		t.Fatalf("%s has only %d lines", countsFile, len(all))
	}
	for _, c := range all {
		text := c.whole()
		if got := O200k().CountString(text); got != c.o200k {
			t.Errorf("o200k_base: %d times %q counts %d, want %d", c.times, c.text, got, c.o200k)
		}
		if got := Cl100k().CountString(text); got != c.cl100k {
			t.Errorf("cl100k_base: %d times %q counts %d, want %d", c.times, c.text, got, c.cl100k)
		}
	}
}
