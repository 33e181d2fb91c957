package tokenize

// Counter tells what things cost a model, in tokens. Costs are additive: a message costs its envelope plus its
// pieces. A Counter comes from [For] or [Named]; it is immutable and safe for concurrent use.
type Counter struct {
	family *family
	text   *tokenizer
}

// For gives the counter of a model by its name, with or without a vendor in front ("gpt-4o", "openai/gpt-4o",
// "us.anthropic.claude-sonnet-4-5"). A name that no family claims gets the careful default; never nil.
func For(model string) *Counter {
	return &counters[familyOf(model)]
}

// Named gives a counter whose texts are counted by the tokenizer of that name, one of [Names]. It belongs to no
// model: its media formulas are the careful defaults. The error is an [*UnknownError].
func Named(tokenizer string) (*Counter, error) {
	return counters[len(counters)-1].Named(tokenizer)
}

// Named gives a counter of the same family (media formulas, pages) with another text tokenizer, one of [Names].
// The error is an [*UnknownError].
func (c *Counter) Named(tokenizer string) (*Counter, error) {
	for i := range tokenizers {
		if tokenizers[i].name == tokenizer {
			return &Counter{c.family, &tokenizers[i]}, nil
		}
	}
	return nil, unknown(tokenizer)
}

// Names lists the known tokenizers, in the order of the table.
func Names() []string {
	names := make([]string, len(tokenizers))
	for i, t := range tokenizers {
		names[i] = t.name
	}
	return names
}

// Window gives what the built-in table knows about a model: its context window and, where the provider accepts
// less than that as a prompt, the prompt limit (0: no limit of its own), both in tokens. Where providers of one
// model differ the smaller window stands here. ok is false for a model that the table does not know.
//
// An upstream that loads a model with a smaller window than it was trained for (Ollama, llama.cpp, LM Studio)
// cannot be known by the name of the model.
func Window(model string) (window, input int, ok bool) {
	f := &families[familyOf(model)]
	return f.window, f.input, f.window > 0
}

// Name is the name of the text tokenizer, such as "bytes/3.2".
func (c *Counter) Name() string { return c.text.name }

// Family is the name of the model's family, such as "gpt-4o"; "unknown" for a model that the table does not know.
func (c *Counter) Family() string { return c.family.name }

// Exact reports whether texts are counted as the model itself counts them. It is false for every estimate.
func (c *Counter) Exact() bool { return c.text.count != nil }

// Text is the cost of a text, without any envelope. An empty text costs nothing.
func (c *Counter) Text(s string) int {
	if c.text.count != nil {
		return c.text.count(s)
	}
	return c.text.estimate(len(s))
}

// Bytes is the cost of a text of n bytes that is not at hand. An estimate only needs the length, so for it
// Bytes(len(s)) equals Text(s). An exact counter answers n: no token is shorter than a byte. n below 1 costs 0.
func (c *Counter) Bytes(n int) int {
	if c.text.count != nil {
		return max(n, 0)
	}
	return c.text.estimate(n)
}

// Envelope is the cost of what stands around each message: role, separators, the name of the field.
func (c *Counter) Envelope() int { return c.text.envelope }

// Call is the cost of what stands around each tool call inside a message, beside its name and arguments.
func (c *Counter) Call() int { return c.text.call }

// Priming is the cost, once per request, of the tokens that open the model's answer.
func (c *Counter) Priming() int { return 3 } // every reply is primed with <|start|>assistant<|message|> (OpenAI cookbook)
