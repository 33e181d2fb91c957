// Package bpe counts the tokens of OpenAI's encodings, exactly.
//
// It promises:
//
//   - exact: [O200k] and [Cl100k] count the tokens that OpenAI's tiktoken returns with encode_ordinary, for every text.
//   - linear: a text takes time in proportion to its length, whatever the text.
//   - lean: counting does not allocate.
//   - immutable: an [Encoding] may be used by many goroutines at once.
//
// # How it works
//
// Counting takes three steps:
//
//   - Cutting (split.go, block.go). The reference cuts a text into pieces with a regular expression that looks back
//     and ahead. Here the same cuts are computed: for 64 bytes of ASCII at a time with one bit per byte, elsewhere
//     character by character. The classes of characters are those of Unicode 16.0, as in the
//     reference; Go's package unicode is at 15.0 and would cut some hundred characters differently.
//   - Looking up (words.go). Most pieces are tokens, and most were counted lately, which is remembered.
//   - Merging (merge.go, vocab.go). A piece that is no token is put together from its bytes by byte pair encoding. A long
//     one is merged in windows that share a token. That their tokens may be joined is a theorem published with GitHub's
//     bpe crate (github.com/github/rust-gems, crates/bpe, corollaries I to III), to whose authors the credit is due. No
//     code was taken from there.
//
// The vocabularies are OpenAI's rank files, stored as lists of merges; a test rebuilds the files and compares the
// checksums that tiktoken pins. The tables are made at the first use of an encoding, in some tenths of
// a second, and take some 20 MB of memory for both.
//
// The proof: make oracle compares every token with OpenAI's own code (the npm package tiktoken) on 84 MB per encoding:
// recorded conversations, samples of scripts cut at every byte, every code point of the first two planes in the places
// where its class matters, runs of every length and alignment, all tokens alone and in pairs, broken UTF-8 and 10 MB of
// random mixes. The plain tests compare with a reference in Go that shares only the vocabulary and the classes
// (slow_test.go), and with recorded answers (testdata/counts.txt).
//
// The speed at first sight, o200k_base, in MB for each second that one core of a busy virtual machine worked (November
// 2026): JSON of conversations 170, Go 100, Markdown 80, many scripts 35; hostile texts 6 and more. The counts of texts
// that were seen before are remembered by package counting.
package bpe
