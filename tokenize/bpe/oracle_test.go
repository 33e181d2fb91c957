package bpe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"laconic/proxy/wire/wiretest"
)

// The oracle is OpenAI's own code (npm package tiktoken, WebAssembly). Every text of every set gets the same tokens
// from it and from this package. That takes minutes, nearly all of them the oracle's, so it runs only when asked for.
func TestOracle(t *testing.T) {
	needOracle(t)
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		t.Run(e.name(), func(t *testing.T) {
			t.Parallel()
			all := 0
			for _, set := range oracleSets {
				t.Run(set.name, func(t *testing.T) { all += compareWithOracle(t, e, set.texts(t)) })
			}
			t.Logf("%s: %d bytes of all sets compared", e.name(), all)
		})
	}
}

// oracleSets are the texts. Long texts without a place to cut are kept short, because the oracle needs quadratic time
// for them.
var oracleSets = []struct {
	name  string
	texts func(*testing.T) iter.Seq[string]
}{
	{"conversations", conversationTexts},
	{"fuzz", func(*testing.T) iter.Seq[string] { return fuzzTexts(10_000_000) }},
	{"the others", func(*testing.T) iter.Seq[string] {
		return func(yield func(string) bool) {
			for _, set := range sets {
				for text := range set.texts {
					if !yield(text) {
						return
					}
				}
			}
		}
	}},
}

// needOracle skips a test that needs the oracle unless it was asked for.
func needOracle(t *testing.T) {
	t.Helper()
	if os.Getenv("LACONIC_ORACLE") == "" {
		t.Skip("the comparison with OpenAI's tokenizer needs Node and minutes: make oracle runs it; " + countsFile + " has a part of its answers")
	}
	if _, err := os.Stat("testdata/oracle/node_modules/tiktoken"); err != nil {
		t.Fatalf("run npm ci in tokenize/bpe/testdata/oracle first: %v", err)
	}
}

// testdata/counts.txt has answers of OpenAI's own tokenizer, so that they are known where Node is not: the numbers of
// tokens by o200k_base and by cl100k_base, of a text so many times in a row.
const countsFile = "testdata/counts.txt"

type counted struct {
	o200k, cl100k, times int
	text                 string
}

func readCounts(t *testing.T) (all []counted) {
	t.Helper()
	file, err := os.ReadFile(countsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var c counted
		if _, err := fmt.Sscanf(line, "%d %d %d %q", &c.o200k, &c.cl100k, &c.times, &c.text); err != nil {
			t.Fatalf("%s: %q: %v", countsFile, line, err)
		}
		c.text = strings.Repeat(c.text, c.times)
		all = append(all, c)
	}
	if len(all) < 1_000 {
		t.Fatalf("%s has only %d lines", countsFile, len(all))
	}
	return all
}

func TestCountsAreOpenAIs(t *testing.T) {
	for _, c := range readCounts(t) {
		if a, b := O200k().Count([]byte(c.text)), Cl100k().Count([]byte(c.text)); a != c.o200k || b != c.cl100k {
			t.Errorf("%.60q counts %d and %d, want %d and %d", c.text, a, b, c.o200k, c.cl100k)
		}
	}
}

// compareWithOracle sends the texts to the oracle, compares the tokens and returns how many bytes it compared.
func compareWithOracle(t *testing.T, e *Encoding, texts iter.Seq[string]) (bytes int) {
	mismatches := 0
	for text, want := range oracle(t, e, texts) {
		bytes += len(text)
		got := tokens(e, text)
		count := e.Count([]byte(text))
		if slices.Equal(got, want) && count == len(want) {
			continue
		}
		if mismatches++; mismatches > 20 {
			continue // the sum tells
		}
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		t.Errorf("counted %d, want %d of %.60q; after %d tokens:\ngot  %v\nwant %v", count, len(want), text, at, clip(got[at:]), clip(want[at:]))
	}
	if bytes == 0 || mismatches > 20 {
		t.Errorf("%d bytes, %d mismatches", bytes, mismatches)
	}
	return bytes
}

func clip(x []uint32) []uint32 { return x[:min(len(x), 12)] }

// oracle yields each text with the tokens the oracle makes of it.
func oracle(t *testing.T, e *Encoding, texts iter.Seq[string]) iter.Seq2[string, []uint32] {
	return func(yield func(string, []uint32) bool) {
		node := exec.Command("node", "testdata/oracle/oracle.mjs", e.name())
		node.Stderr = os.Stderr
		in, err := node.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := node.StdoutPipe()
		if err == nil {
			err = node.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer node.Wait()
		defer node.Process.Kill()
		go func() {
			w := bufio.NewWriterSize(in, 1<<16)
			for text := range texts {
				binary.Write(w, binary.LittleEndian, uint32(len(text)))
				w.WriteString(text)
			}
			w.Flush()
			in.Close()
		}()
		r := bufio.NewReaderSize(out, 1<<16)
		for text := range texts {
			var n uint32
			err := binary.Read(r, binary.LittleEndian, &n)
			tokens := make([]uint32, n)
			if err == nil {
				err = binary.Read(r, binary.LittleEndian, tokens)
			}
			if err != nil {
				t.Fatalf("the oracle stopped: %v", err)
			}
			if !yield(text, tokens) {
				return
			}
		}
	}
}

// conversationTexts are real conversations, as the JSON they are stored in and as
// the strings in it.
func conversationTexts(t *testing.T) iter.Seq[string] {
	files := wiretest.ConversationFiles(t)
	return func(yield func(string) bool) {
		for _, file := range files {
			for line := range wiretest.Lines(t, file) {
				if !yield(string(line)) {
					return
				}
				for d := json.NewDecoder(bytes.NewReader(line)); ; {
					token, err := d.Token()
					if err != nil {
						break
					}
					if s, ok := token.(string); ok && !yield(s) {
						return
					}
				}
			}
		}
	}
}
