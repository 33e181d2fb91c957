package tokenize

import (
	"cmp"
	"slices"

	"laconic/tokenize/bpe"
)

// tokenizer is one way to count a text: exactly, by the count of o200k_base times a factor, or by length.
type tokenizer struct {
	name     string
	encoding func() *bpe.Encoding // counts the text; nil for an estimate by length
	scale    *scale               // applied to that count; nil if the encoding is the model's own
	tenths   int                  // an estimate by length: ten times the bytes of UTF-8 that make one token
	written  bool                 // that length is of the text as JSON writes it
	framing  framing
}

// framing is the tokens around the texts of a request.
type framing struct {
	preamble int  // once: what a template says before the first message, unasked
	envelope int  // around each message, its role included
	result   int  // around a tool result, beside that
	call     int  // around each tool call
	function int  // for each function, by OpenAI's formula (functions.go); 0: tools are written as JSON
	template bool // else: in the layout of a chat template (tools.go)
	tools    int  // else: once, where there are tools
}

var (
	// OpenAI puts 3 tokens around each message and one for its role (OpenAI's cookbook, "How to count tokens with
	// tiktoken"). The cost of calls is not published; the bills of three runs of gpt-5.5 show it to the token: 20
	// around a call and its result together, 27 where the assistant said something before, and where it made n calls at
	// once 14 for each and 22 more. 4 + n·(14 + 4 + 4) is that, or a little above from three calls on.
	openAIFraming = framing{envelope: 4, result: 4, call: 14, function: 7}
	gpt4Framing   = framing{envelope: 4, result: 4, call: 14, function: 10}
	// Where gpt-oss runs, its template says for it what OpenAI does not bill: who it is, the date, how hard to think,
	// which channels there are, where tools are (openai/harmony).
	harmonyFraming = framing{preamble: 100, envelope: 4, result: 4, call: 14, function: 7}
	// Templates of open models put up to 6 tokens around a message, and up to 12 around a call. Llama 3.1 begins with two
	// dates, Qwen 2.5 with its name: 25 tokens.
	otherFraming = framing{preamble: 25, envelope: 8, call: 12, template: true}
	// The templates of DeepSeek, Gemma and Phi-3 say nothing by themselves. DeepSeek's has fewer marks: with these, nine
	// conversations that its host billed are within 5 %.
	bareFraming     = framing{envelope: 8, call: 12, template: true}
	deepseekFraming = framing{envelope: 4, result: 2, call: 10, template: true}
	cl100kFraming   = framing{preamble: 25, envelope: 5, result: 4, call: 12, template: true}
	// Anthropic's page of instructions has 346 tokens (docs.anthropic.com, tool use, pricing).
	anthropicFraming = framing{envelope: 8, call: 12, tools: 346}
	// An estimate by length takes 8, so that it pays for names and ids, too.
	lengthFraming = framing{envelope: 8, call: 8}
)

// tokenizers are all known ways to count a text. "bytes/4" is the rule of thumb that most peers use; it under-counts
// agent traffic by 8 to 50 %.
var tokenizers = []tokenizer{
	{name: "o200k_base", encoding: bpe.O200k, framing: openAIFraming},
	{name: "o200k_harmony", encoding: bpe.O200k, framing: harmonyFraming}, // differs in its special tokens alone
	{name: "cl100k_base", encoding: bpe.Cl100k, framing: gpt4Framing},
	// Llama 3 and Qwen have cl100k_base and more tokens for other languages: a real Llama 3.1 and Qwen 2.5 were within 2 % of it
	// on code, prose and tools (llama.cpp's vocabularies).
	{name: "cl100k*1.01", encoding: bpe.Cl100k, scale: &scale{plain: 101, other: 101, rare: 101}, framing: cl100kFraming},
	{name: "cl100k*1.02", encoding: bpe.Cl100k, scale: &scale{plain: 102, other: 102, rare: 102}, framing: cl100kFraming},
	{name: "cl100k*1.02+digits", encoding: bpe.Cl100k, scale: &scale{plain: 102, other: 102, rare: 102, digits: true}, framing: cl100kFraming},
	scaled("o200k*1.04+digits+signs", scale{plain: 104, other: 115, rare: 150, digits: true, signs: true}, bareFraming),
	scaled("o200k*1.05", scale{plain: 105, other: 120, rare: 250}, otherFraming),
	scaled("o200k*1.1", scale{plain: 110, other: 120, rare: 250}, otherFraming),
	scaled("o200k*1.1+gaps", scale{plain: 110, other: 120, rare: 250, gaps: true}, deepseekFraming),
	scaled("o200k*1.1+digits", scale{plain: 110, other: 120, rare: 250, digits: true}, otherFraming),
	scaled("o200k*1.15+digits+signs", scale{plain: 115, other: 160, rare: 350, digits: true, signs: true}, bareFraming),
	scaled("o200k*1.2+digits", scale{plain: 120, other: 140, rare: 250, digits: true}, otherFraming),
	scaled("o200k*1.35+digits", scale{plain: 135, other: 160, rare: 350, digits: true}, otherFraming),
	scaled("o200k*1.35", scale{plain: 135, other: 155, rare: 350}, anthropicFraming),
	scaled("o200k*1.6", scale{plain: 160, other: 160, rare: 350}, anthropicFraming),
	bytesPer(40, "bytes/4"),
	bytesPer(35, "bytes/3.5"),
	bytesPer(30, "bytes/3"),
}

// tokenizerNamed returns one of them, nil for any other name.
func tokenizerNamed(name string) *tokenizer {
	if i := slices.IndexFunc(tokenizers, func(t tokenizer) bool { return t.name == name }); i >= 0 {
		return &tokenizers[i]
	}
	return nil
}

func scaled(name string, s scale, f framing) tokenizer {
	return tokenizer{name: name, encoding: bpe.O200k, scale: &s, framing: f}
}

func bytesPer(tenths int, name string) tokenizer {
	return tokenizer{name: name, tenths: tenths, framing: lengthFraming}
}

// unseenTenths is for the length of a text that is not at hand: three bytes a token.
const unseenTenths = 30

// count returns the cost of a text. It does not allocate.
func (t *tokenizer) count(text []byte) int {
	switch {
	case len(text) == 0:
		return 0
	case t.encoding == nil:
		return t.length(len(text))
	case t.scale == nil:
		return t.encoding().Count(text)
	}
	return t.scale.of(t.encoding().Count(text), text)
}

// length returns the cost of n bytes of text: ⌈n·10/tenths⌉, times the factor for ASCII, without overflow for any n.
func (t *tokenizer) length(n int) int {
	if n <= 0 {
		return 0
	}
	tenths := cmp.Or(t.tenths, unseenTenths)
	n = n/tenths*10 + ceilDiv(n%tenths*10, tenths)
	if t.scale != nil {
		n = n/100*t.scale.plain + ceilDiv(n%100*t.scale.plain, 100)
	}
	return n
}

// ceilDiv returns ⌈a/b⌉ for a ≥ 0 and b ≥ 1.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
