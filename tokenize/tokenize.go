package tokenize

import (
	"fmt"
	"strings"
	"unsafe"

	"laconic/tokenize/bpe"
)

// Counter counts what the pieces of a request cost a model, in tokens. Costs are additive: a message costs its envelope
// plus its pieces. A Counter comes from [For] or [Counter.Named]; it is immutable and safe for concurrent use.
type Counter struct {
	family *family
	text   *tokenizer
}

// For returns the counter of a model by its name, with or without a vendor in front ("gpt-4o", "openai/gpt-4o",
// "us.anthropic.claude-sonnet-4-5"). A name of no known family gets the careful default; never nil.
func For(model string) *Counter {
	f := familyOf(model)
	return &Counter{f, f.text}
}

// Named returns a counter of the same family (media formulas, pages) with another text tokenizer, one of [Names]. The error
// names all known ones.
func (c *Counter) Named(tokenizer string) (*Counter, error) {
	if t := tokenizerNamed(tokenizer); t != nil {
		return &Counter{c.family, t}, nil
	}
	return nil, fmt.Errorf("unknown tokenizer %.64q (known: %s)", tokenizer, strings.Join(Names(), ", "))
}

// Names returns the known tokenizers, in the order of the table.
func Names() []string {
	names := make([]string, len(tokenizers))
	for i, t := range tokenizers {
		names[i] = t.name
	}
	return names
}

// Window returns the context window of a model and, if the provider accepts less than that as a prompt, the prompt
// limit (0: no limit of its own), both in tokens. If providers of a model differ, it returns the smaller window. ok is
// false for a model that the built-in table does not have.
//
// An upstream that loads a model with a smaller window than it was trained for (Ollama, llama.cpp, LM Studio) cannot be
// recognized by the name of the model.
func Window(model string) (window, input int, ok bool) {
	f := familyOf(model)
	return f.window, f.input, f.window > 0
}

// Name returns the name of the text tokenizer, such as "o200k_base" or "o200k*1.1".
func (c *Counter) Name() string { return c.text.name }

// Family returns the name of the model's family, such as "gpt-4o"; "unknown" for a model that the table does not have.
func (c *Counter) Family() string { return c.family.name }

// Exact reports whether texts are counted as the model itself counts them. It is false for every estimate, and for an
// encoding that is not that of the model's family. For a model that the table does not know, an encoding chosen by
// name is taken for its own.
func (c *Counter) Exact() bool {
	known := c.family != &families[len(families)-1]
	name, _, _ := strings.Cut(c.text.name, "_")
	own, _, _ := strings.Cut(c.family.text.name, "_") // o200k_base and o200k_harmony differ in their special tokens alone
	return c.text.encoding != nil && c.text.scale == nil && (!known || name == own)
}

// FramingExact reports whether the tokens around messages are counted as the model counts them. They are for OpenAI's
// models, for messages without calls. Tools, calls, pictures, sounds and files are always charged by formulas.
func (c *Counter) FramingExact() bool {
	return c.Exact() && c.text == c.family.text && c.text.framing.preamble == 0
}

// Reads reports whether texts must be read to be counted. If not, the length is enough, and [Counter.Bytes] is as good
// as [Counter.Text].
func (c *Counter) Reads() bool { return c.text.encoding != nil }

// Written reports whether the length that [Counter.Bytes] takes is that of the text as JSON writes it, escapes included.
func (c *Counter) Written() bool { return c.text.written }

// Load builds the tables of all tokenizers, unless they exist; it takes some tenths of a second. Without Load the first
// counted text builds those that it needs.
func Load() {
	bpe.O200k()
	bpe.Cl100k()
}

// Text returns the cost of a text, without any envelope. An empty text costs nothing. It does not allocate:
// the bytes are lent, to be read only.
func (c *Counter) Text(s string) int { return c.text.count(unsafe.Slice(unsafe.StringData(s), len(s))) }

// Bytes returns the cost of a text of n bytes that is not at hand. For an estimate by length Bytes(len(s)) equals
// Text(s); the others take three bytes of a text for a token of o200k_base, which most texts exceed. n below 1 costs 0.
func (c *Counter) Bytes(n int) int { return c.text.length(n) }

// Envelope returns the cost of the tokens around each message: separators, and its role.
func (c *Counter) Envelope() int { return c.text.framing.envelope }

// Speaker returns the cost of a message's name; 0 for "".
func (c *Counter) Speaker(name string) int {
	if name == "" {
		return 0
	}
	return 1 + c.Text(name) // 1 as in OpenAI's cookbook
}

// Result returns the cost of the tokens around a tool result beside its envelope: whose answer it is.
func (c *Counter) Result() int { return c.text.framing.result }

// Call returns the cost of the tokens around each tool call in a message, beside its name and arguments.
func (c *Counter) Call() int { return c.text.framing.call }

// Priming returns the cost, once per request, of the tokens that open the model's answer, and of the template's own
// text.
func (c *Counter) Priming() int {
	const answer = 3 // every reply is primed with <|start|>assistant<|message|> (OpenAI cookbook)
	return c.text.framing.preamble + answer
}
