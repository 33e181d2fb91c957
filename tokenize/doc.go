// Package tokenize tells what the pieces of a chat request cost a model, in tokens.
//
// It promises:
//
//   - additive: a message costs its envelope plus its pieces, a request its messages plus what stands around
//     them. So running totals are exact, and a message may be counted once and remembered.
//   - safe: where the true cost cannot be known the answer leans upward. A request believed too large is folded
//     a little early; one believed too small is refused by the upstream.
//   - total: every input has a cost of zero or more. No question about a cost panics or fails, however broken
//     the picture, the sound or the JSON.
//   - bounded: an estimate of a text takes the same time for any length. The size of a picture comes from its
//     header: at most 64 KiB of its base64 are looked at, the rest is never decoded and never counted as text.
//     Everything else is linear in its input.
//   - repeatable: integer arithmetic only, no clock, no state. Two replicas give the same answer.
//   - immutable: a Counter may be used from many goroutines at once.
//
// # How it works
//
// A model belongs to a family, found by its name in one ordered table (families.go). The family says how
// pictures, sounds and pages are charged, how large the window is, and which tokenizer counts its texts. [For]
// gives the counter of a model. [Named] and [Counter.Named] replace the text tokenizer and keep the rest.
//
// The tokenizers "bytes/4", "bytes/3.5", … are estimates: so many bytes of UTF-8 per token, rounded up, and 8
// tokens around each message for its role and separators. One number per family repairs the bias of an estimate,
// not its spread: digits, base64 and directory listings cost up to twice what prose of the same length costs.
// Callers that act on a limit should therefore keep a distance to it when [Counter.Exact] is false.
//
// A request is counted like this:
//
//	total := c.Priming() + c.Tools(tools) + c.Format(responseFormat)
//	for each message:    total += c.Envelope() + c.Text(content)
//	for each tool call:  total += c.Call() + c.Text(name) + c.Text(arguments)
//	for each media part: total += c.Image(url, detail), c.Audio(data, format) or c.File(data, name)
//
// # Units
//
// Every cost is in tokens of the model's prompt, as its provider reports them in usage.prompt_tokens. Lengths
// are in bytes of UTF-8, pictures in pixels, sounds in seconds.
package tokenize
