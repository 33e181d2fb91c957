package bpe

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// The oracle is OpenAI's own code (npm package tiktoken, WebAssembly). Every text of every set gets the same tokens
// from it and from this package. That takes minutes, nearly all of them the oracle's, so it runs only when asked for.
func TestOracle(t *testing.T) {
	needOracle(t)
	for _, e := range []*Encoding{O200k(), Cl100k()} {
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			var all comparison
			for _, set := range oracleSets {
				t.Run(set.name, func(t *testing.T) {
					c := compareWithOracle(t, e, set.texts(t))
					t.Logf("%s, %s: %s", e.Name(), set.name, c)
					all.add(c)
				})
			}
			t.Logf("%s, all sets: %s", e.Name(), all)
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
	{"Go sources and documentation", goTexts},
	{"traps", func(*testing.T) iter.Seq[string] { return trapTexts }},
	{"scripts", func(*testing.T) iter.Seq[string] { return scriptTexts }},
	{"every code point", func(*testing.T) iter.Seq[string] { return codePointTexts }},
	{"runs", func(*testing.T) iter.Seq[string] { return runTexts }},
	{"tokens", func(*testing.T) iter.Seq[string] { return tokenTexts }},
	{"words", func(*testing.T) iter.Seq[string] { return wordTexts }},
	{"blocks", func(*testing.T) iter.Seq[string] { return blockTexts }},
	{"long words", func(*testing.T) iter.Seq[string] { return longWordTexts }},
	{"broken UTF-8", func(*testing.T) iter.Seq[string] { return brokenTexts }},
	{"fuzz", func(*testing.T) iter.Seq[string] { return fuzzTexts(10_000_000) }},
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

var update = flag.Bool("update", false, "rewrite "+countsFile+" with the oracle's answers")

// The answers in testdata/counts.txt are the oracle's.
func TestOracleGivesTheCountsOfTheFile(t *testing.T) {
	needOracle(t)
	var all []counted
	if *update {
		all = countedTexts()
	} else {
		all = readCounts(t)
	}
	texts := func(yield func(string) bool) {
		for _, c := range all {
			if !yield(c.whole()) {
				return
			}
		}
	}
	answers := func(e *Encoding) (counts []int) {
		for _, tokens := range oracle(t, e, texts) {
			counts = append(counts, len(tokens))
		}
		return counts
	}
	o200k, cl100k := answers(O200k()), answers(Cl100k())
	for i, c := range all {
		if *update {
			all[i].o200k, all[i].cl100k = o200k[i], cl100k[i]
		} else if c.o200k != o200k[i] || c.cl100k != cl100k[i] {
			t.Errorf("the file says %v; the oracle %d and %d", c, o200k[i], cl100k[i])
		}
	}
	if *update {
		writeCounts(t, all)
	}
	t.Logf("%d lines compared", len(all))
}

// A comparison says how much was compared.
type comparison struct{ texts, bytes, tokens, mismatches int }

func (c *comparison) add(d comparison) {
	c.texts += d.texts
	c.bytes += d.bytes
	c.tokens += d.tokens
	c.mismatches += d.mismatches
}

func (c comparison) String() string {
	return fmt.Sprintf("%d texts, %d bytes, %d tokens compared: %d mismatches", c.texts, c.bytes, c.tokens, c.mismatches)
}

// compareWithOracle sends the texts to the oracle and compares the tokens.
func compareWithOracle(t *testing.T, e *Encoding, texts iter.Seq[string]) (c comparison) {
	for text, want := range oracle(t, e, texts) {
		c.add(comparison{1, len(text), len(want), 0})
		got := e.AppendTokens(nil, []byte(text))
		count := e.CountString(text)
		if slices.Equal(got, want) && count == len(want) {
			continue
		}
		if c.mismatches++; c.mismatches > 20 {
			continue // the sum tells
		}
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		before := 0
		for _, id := range want[:at] {
			before += e.vocab.size(id)
		}
		t.Errorf("counted %d, want %d; after %d tokens, before %q:\ngot  %v\nwant %v", count, len(want), at,
			clip(string(appendRepaired(nil, []byte(text)))[before:]), clipTokens(got[at:]), clipTokens(want[at:]))
	}
	if c.texts == 0 {
		t.Error("no texts")
	}
	return c
}

func clip(s string) string { return s[:min(len(s), 60)] }

func clipTokens(x []uint32) []uint32 { return x[:min(len(x), 12)] }

// oracle yields each text with the tokens the oracle makes of it.
func oracle(t *testing.T, e *Encoding, texts iter.Seq[string]) iter.Seq2[string, []uint32] {
	return func(yield func(string, []uint32) bool) {
		node := exec.Command("node", "testdata/oracle/oracle.mjs", e.Name())
		node.Stderr = os.Stderr
		in, err := node.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := node.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		defer node.Wait()
		defer node.Process.Kill()
		asked := make(chan string, 1000)
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			defer close(asked)
			w := bufio.NewWriterSize(in, 1<<16)
			defer in.Close()
			defer w.Flush()
			for text := range texts {
				binary.Write(w, binary.LittleEndian, uint32(len(text)))
				w.WriteString(text)
				select {
				case asked <- text:
				default:
					w.Flush() // the answers lag behind: wait for them
					select {
					case asked <- text:
					case <-stop:
						return
					}
				}
			}
		}()
		r := bufio.NewReaderSize(out, 1<<16)
		for text := range asked {
			var n uint32
			if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
				t.Fatalf("the oracle stopped: %v", err)
			}
			raw := make([]byte, 4*n)
			if _, err := io.ReadFull(r, raw); err != nil {
				t.Fatalf("the oracle stopped: %v", err)
			}
			tokens := make([]uint32, n)
			for i := range tokens {
				tokens[i] = binary.LittleEndian.Uint32(raw[4*i:])
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
	files := append(compacttest.ConversationFiles(t), compacttest.CaptureFiles(t)...)
	return func(yield func(string) bool) {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
				return
			}
			for line := range strings.Lines(string(data)) {
				if !yield(line) {
					return
				}
				for d := json.NewDecoder(strings.NewReader(line)); ; {
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

// goTexts are Go's own sources and documentation, and the documentation of the modules on this machine, as far as
// there are so many bytes of each.
func goTexts(t *testing.T) iter.Seq[string] {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return func(yield func(string) bool) {
		more := true
		give := func(folder string, most int, kinds ...string) {
			filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !slices.Contains(kinds, filepath.Ext(path)) {
					return nil // what cannot be read is left out
				}
				if i, err := d.Info(); err != nil || i.Size() > 1_000_000 {
					return nil
				}
				text, err := os.ReadFile(path)
				if err != nil {
					return nil
				}
				if most -= len(text); most < 0 || !more {
					return fs.SkipAll
				}
				if more = yield(string(text)); !more {
					return fs.SkipAll
				}
				return nil
			})
		}
		give(filepath.Join(root, "src"), 30_000_000, ".go", ".s")
		give(root, 10_000_000, ".md", ".html", ".txt", ".js", ".json", "")
		give(cache, 10_000_000, ".md")
	}
}
