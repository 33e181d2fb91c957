package tokenize

import "laconic/tokenize/bpe"

// ways are the tokenizers by which upstreams may count the prompts of unknown models, beside the default and Llama 3.1
// as a whole, whose template writes results as JSON and leaves out what stands beside calls. If several explain the bills
// equally well, the first is taken. None has a factor, so the bills of the upstream that uses a way are near its count. The
// vocabularies of Qwen and of Llama 3 are made from cl100k_base, and Qwen's takes each digit for a token.
var ways = []tokenizer{
	{name: "cl100k+digits", encoding: bpe.Cl100k, scale: &scale{plain: 100, other: 100, rare: 100, digits: true}, framing: plainFraming},
	{name: "cl100k", encoding: bpe.Cl100k, framing: plainFraming},
	{name: "o200k", encoding: bpe.O200k, framing: plainFraming},
	{name: "json/4", tenths: 40, written: true, framing: framing{envelope: 8, result: 10, call: 24}},
	{name: "json/3", tenths: 30, written: true, framing: framing{envelope: 11, result: 13, call: 32}},
	bytesPer(40, "bytes/4"),
	bytesPer(30, "bytes/3"),
}

// plainFraming has the tokens that most templates of open models put around a message, a result and a call. As JSON a message has
// about 32 bytes beside its texts, a result 40 more and a call 96, ids included.
var plainFraming = framing{envelope: 5, result: 4, call: 12, template: true}

// Ways returns the counters by which an upstream may count this model: the counter itself, and others if the tokenizer
// is a guess. A [Calibration] finds out which, and with which factor.
func (c *Counter) Ways() []*Counter {
	all := []*Counter{c}
	if !c.guessed() {
		return all
	}
	for i := range ways {
		all = append(all, &Counter{c.family, &ways[i]})
	}
	return append(all, For("llama-3.1"))
}

// Careful returns the factor, in percent, on the count of a prompt that the upstream would cut if it were too long: 100
// if the count leans to the safe side by itself. With the 1.1 of an unknown model's count 123 makes 1.35, as models need
// that are built on Llama 2 or on Mistral's first vocabulary.
func (c *Counter) Careful() int {
	if c.guessed() && c.family.name == "unknown" {
		return 123
	}
	return 100
}

// guessed reports whether the tokenizer is a guess: the default of a family whose own is not known.
func (c *Counter) guessed() bool {
	return (c.family.name == "unknown" || c.family.name == "mimo") && c.text == c.family.text
}
