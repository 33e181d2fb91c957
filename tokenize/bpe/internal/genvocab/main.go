// Command genvocab writes the vocabularies that package bpe embeds.
//
// It fetches OpenAI's rank files o200k_base.tiktoken and cl100k_base.tiktoken
// through the Go module proxy (module github.com/pkoukk/tiktoken-go-loader
// carries them unchanged), refuses any file whose SHA-256 is not the one that
// openai/tiktoken pins for it, and writes each as a list of merges.
//
// A rank file names every token by its bytes. A token longer than one byte is
// always the joint of two earlier tokens: the two parts that are left when byte
// pair encoding runs over the token's own bytes with all earlier tokens. These
// two numbers say everything the bytes say, are smaller, and are what an
// encoder needs. The file is therefore:
//
//	256 bytes       the one-byte tokens, in the order of their ranks 0 to 255
//	5 bytes each    rank 256 and up: left + right<<20, little endian
//
// Package bpe rebuilds the rank file from this in a test and compares the
// same SHA-256, so nothing can be lost here.
//
// Run it with go generate in the folder of package bpe.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

const module = "github.com/pkoukk/tiktoken-go-loader@v0.0.2"

// The checksums are those of openai/tiktoken, tiktoken_ext/openai_public.py.
var vocabularies = []struct{ name, sha256 string }{
	{"o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
	{"cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("genvocab: ")
	dir, err := download()
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range vocabularies {
		ranks, err := os.ReadFile(filepath.Join(dir, "assets", v.name+".tiktoken"))
		if err != nil {
			log.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(ranks)); sum != v.sha256 {
			log.Fatalf("%s: SHA-256 is %s, want %s", v.name, sum, v.sha256)
		}
		tokens, err := parse(ranks)
		if err != nil {
			log.Fatalf("%s: %v", v.name, err)
		}
		merges, err := merges(tokens)
		if err != nil {
			log.Fatalf("%s: %v", v.name, err)
		}
		file := filepath.Join("data", v.name+".merges")
		if err := os.WriteFile(file, merges, 0o644); err != nil {
			log.Fatal(err)
		}
		log.Printf("%s: %d tokens, %d bytes", file, len(tokens), len(merges))
	}
}

// download returns the folder of the module that carries the rank files.
func download() (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	}
	var m struct{ Dir, Error string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", err
	}
	if m.Error != "" {
		return "", errors.New(m.Error)
	}
	return m.Dir, nil
}

// parse reads lines of "base64 rank"; ranks must count up from 0.
func parse(ranks []byte) ([]string, error) {
	var tokens []string
	for line := range bytes.Lines(ranks) {
		text, rank, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		if n, err := strconv.Atoi(string(rank)); !ok || err != nil || n != len(tokens) {
			return nil, fmt.Errorf("line %d: %q", len(tokens)+1, line)
		}
		token, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(tokens)+1, err)
		}
		tokens = append(tokens, string(token))
	}
	return tokens, nil
}

// merges finds the two parts of every token and packs them.
func merges(tokens []string) ([]byte, error) {
	rank := make(map[string]int, len(tokens))
	for r, t := range tokens {
		if _, twice := rank[t]; twice {
			return nil, fmt.Errorf("rank %d: %q stands twice", r, t)
		}
		rank[t] = r
	}
	var out []byte
	for r, t := range tokens {
		if (r < 256) != (len(t) == 1) {
			return nil, fmt.Errorf("rank %d: %q: the first 256 tokens and no others must be single bytes", r, t)
		}
		if r < 256 {
			out = append(out, t[0])
			continue
		}
		parts := encode(rank, t, r)
		if len(parts) != 2 {
			return nil, fmt.Errorf("rank %d: %q is never reached by byte pair encoding", r, t)
		}
		left, right := rank[parts[0]], rank[parts[1]]
		if left >= r || right >= r {
			return nil, fmt.Errorf("rank %d: %q has a later part", r, t)
		}
		pair := uint64(left) | uint64(right)<<20
		out = append(out, byte(pair), byte(pair>>8), byte(pair>>16), byte(pair>>24), byte(pair>>32))
	}
	return out, nil
}

// encode is byte pair encoding in its plainest form, with the ranks below limit.
func encode(rank map[string]int, text string, limit int) []string {
	var parts []string
	for i := range len(text) {
		parts = append(parts, text[i:i+1])
	}
	for {
		at, lowest := -1, limit
		for i := 1; i < len(parts); i++ {
			if r, ok := rank[parts[i-1]+parts[i]]; ok && r < lowest {
				at, lowest = i-1, r
			}
		}
		if at < 0 {
			return parts
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}
