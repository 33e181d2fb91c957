// Package tokenize tells what the pieces of a chat request cost a model, in tokens.
//
// It promises:
//
//   - additive: a message costs its envelope plus its pieces, a request its messages plus what stands around
//     them. So running totals are exact, and a message may be counted once and remembered.
//   - safe: where the true cost of a piece cannot be known the answer leans upward. A request believed too large is
//     folded a little early; one believed too small is refused by the upstream. A model that nobody knows gets the middle
//     of the known ones, times [Careful] where nothing would be refused.
//   - total: every input has a cost of zero or more. No question about a cost panics or fails, however broken
//     the picture, the sound or the JSON.
//   - bounded: everything is linear in its input, whatever the input. The size of a picture comes from its header: at
//     most 64 KiB of its base64 are looked at, the rest is never decoded and never counted as text.
//   - repeatable: integer arithmetic only, no clock, no state. Two replicas give the same answer.
//   - immutable: a Counter may be used from many goroutines at once.
//
// # How it works
//
// A model belongs to a family, found by its name in one ordered table (families.go). The family says how
// pictures, sounds and pages are charged, how large the window is, and which tokenizer counts its texts. [For]
// gives the counter of a model. [Named] and [Counter.Named] replace the text tokenizer and keep the rest.
//
// There are three kinds of tokenizer:
//
//   - OpenAI's own, o200k_base, o200k_harmony and cl100k_base, which are exact ([Encoding], and below).
//   - "o200k*1.1", "o200k*1.1+digits", …: the count of o200k_base times a factor, for the models of others. The factor
//     grows with the share of scripts that other vocabularies cut smaller; with "+digits" each digit is a token
//     (scale.go). On real agent runs that was 5 % below to 22 % above the bill. A model that nobody knows gets the middle
//     of the known ones. How its upstream counts is found out from three bills: [Counter.Ways], [Calibration].
//   - "bytes/4", "bytes/3.5" and "bytes/3": so many bytes of UTF-8 per token, rounded up, as peers count. Digits, base64
//     and directory listings cost up to twice what they say.
//
// Callers that act on a limit should keep a distance to it when [Counter.Exact] is false.
//
// A request is counted like this:
//
//	total := c.Priming() + c.Tools(tools) + c.Format(responseFormat)
//	for each message:    total += c.Envelope() + c.Speaker(name) + c.Text(content)
//	for each result:     total += c.Result(), beside that
//	for each tool call:  total += c.Call() + c.Text(name) + c.Text(arguments)
//	for each media part: total += c.Image(url, detail), c.Audio(data, format), c.Video(data) or c.File(data, name)
//	for each other part: total += c.Unknown(raw)
//
// Reasoning that the client sends back is charged as text though some models leave that of earlier turns out; where it
// is encrypted, and a signature, costs nothing here.
//
// Tools cost OpenAI's formula (functions.go), or what the chat template of Qwen, Llama or Mistral makes of them (tools.go);
// other models behind a template pay for the JSON in the layout that Qwen's and Mistral's share, which is 1.05 to 1.08 times
// the count of compact JSON on two agents' tools, and a page of 44 tokens. Claude pays for compact JSON and 346.
//
// What stands around texts is exact for messages without calls (OpenAI's cookbook publishes it), and within some
// tokens for calls. The tables of an encoding are built when it is first needed, which takes some tenths of a second;
// [Counter.Load] does it before.
//
// # Exact encodings
//
// [O200k] and [Cl100k] give the tokens that OpenAI's tiktoken gives with encode_ordinary, for every text, in time
// that grows with its length and no faster, and count without allocating. The way goes through four rooms:
//
//   - Cutting (split.go, block.go). The reference cuts a text into pieces with a regular expression that looks back
//     and ahead. Here the same cuts are computed: for 64 bytes of ASCII at a time with one bit per byte, elsewhere
//     character by character. The classes of characters are those of Unicode 16.0 ([UnicodeVersion]), as in the
//     reference; Go's package unicode is at 15.0 and would cut some hundred characters differently.
//   - Looking up (pieces.go, perfect.go, scratch.go). Most pieces are tokens. The piece itself, packed into one to four
//     words, is the key of a table in which every key has one place. What was counted lately is remembered.
//   - Merging (chars.go, couples.go, units.go, merge.go). What is no token is put together by byte pair encoding. It
//     starts from whole characters, and from pairs of them, wherever the vocabulary says that nothing can come
//     between; chars.go has the argument.
//   - Long pieces (window.go) are merged in windows that share a token. That their tokens may be joined is a theorem
//     published with GitHub's bpe crate (github.com/github/rust-gems, crates/bpe, corollaries I to III), to whose
//     authors the credit is due. No code was taken from there.
//
// The vocabularies are OpenAI's rank files, stored as lists of merges (internal/genvocab); a test rebuilds the files
// and compares the checksums that tiktoken pins. The tables are made at the first use of an encoding, in about
// 0.2 seconds for o200k_base, and take 22 MB of memory for both.
//
// How it was proven: make oracle compares every token with OpenAI's own code (the npm package tiktoken) on about 125 MB
// per encoding: recorded conversations, Go's sources and documentation, samples of scripts cut at every byte, every code
// point of the first two planes in the places where its class matters, runs of every length and alignment, all tokens
// alone and in pairs, random words of many scripts, broken UTF-8 and 10 MB of random mixes. The plain tests compare with
// a reference in Go that shares nothing with the fast way but the vocabulary and the classes (slow_test.go), and with
// recorded answers (testdata/counts.txt).
//
// How fast it is, o200k_base, seen for the first time, in MB/s of one core (2-core virtual machine, November 2026), and
// times as fast on the wall as github.com/tiktoken-go/tokenizer v0.10.0 in the same run. make bench-tokenize
// BENCH="-json folder" makes the table, of what texts a machine has:
//
//	English                   194  23.4    European, manual pages 4.0 MB    96  15.6
//	Markdown                  143  15.6    European, catalogs     4.0 MB    72  10.2
//	Go                        173  25.7    Russian, catalogs      4.0 MB    90  11.8
//	JSON, output of tools     222  32.7    Korean, catalogs       1.8 MB    88  13.6
//	JSON, conversations       163  21.4    Chinese, catalogs      1.8 MB    64  11.8
//	JavaScript, TypeScript    209  23.4    Japanese, catalogs     1.7 MB    66  12.4
//
// Hostile texts of 4 MB run at 22 MB/s and more, and a text of any kind in proportion to its length. The counts of
// texts that were seen before are remembered by package cache.
//
// # Units
//
// Every cost is in tokens of the model's prompt, as its provider reports them in usage.prompt_tokens. Lengths
// are in bytes of UTF-8, pictures in pixels, sounds in seconds.
package tokenize
