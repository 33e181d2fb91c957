// Package tokenize counts what the pieces of a chat request cost a model, in tokens.
//
// It promises:
//
//   - additive: a message costs its envelope plus its pieces, a request its messages plus the tokens around
//     them. So running totals are exact, and a message may be counted once and remembered.
//   - safe: where the true cost of a piece cannot be known, the answer leans upward. A request that is counted too high
//     is folded a little early; one that is counted too low is refused by the upstream. An unknown model gets the
//     middle of the known ones, times [Counter.Careful] if the upstream cuts prompts instead of refusing them.
//   - total: every input has a cost of zero or more. No question about a cost panics or fails, however broken
//     the picture, the sound or the JSON.
//   - bounded: everything is linear in its input, whatever the input. The size of a picture comes from its header: at
//     most 512 KiB are decoded, and a few bytes as a rule; the rest is never counted as text.
//   - repeatable: integer arithmetic only, no clock, no state. Two replicas return the same answer.
//   - immutable: a Counter may be used from many goroutines at once.
//
// # How it works
//
// A model belongs to a family, found by its name in one ordered table (families.txt). The family says how
// pictures, sounds and pages are charged, how large the window is, and which tokenizer counts its texts. [For]
// returns the counter of a model. [Counter.Named] replaces the text tokenizer and keeps the rest.
//
// There are three kinds of tokenizer:
//
//   - OpenAI's own, o200k_base, o200k_harmony and cl100k_base, which are exact (package bpe).
//   - "o200k*1.1", "o200k*1.1+digits", …: the count of o200k_base times a factor, for the models of others. The factor
//     grows with the share of scripts that other vocabularies cut smaller; with "+digits" each digit is a token,
//     with "+signs" most signs between two words are, and with "+gaps" the blanks before a number are one (scale.go).
//     On real agent runs the count was 5 % below to 22 % above the bill. For an unknown model, three bills show how its
//     upstream counts: [Counter.Ways], [Calibration].
//   - "bytes/4", "bytes/3.5" and "bytes/3": so many bytes of UTF-8 for a token, rounded up, as other programs count.
//     Digits, base64 and directory listings cost up to twice as much.
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
// Reasoning that the client sends back is charged as text, although some models ignore that of earlier turns. Encrypted
// reasoning and signatures cost nothing here.
//
// Tools cost OpenAI's formula (functions.go), or what the chat template of Qwen, Llama or Mistral makes of them (tools.go);
// other models behind a template pay for the JSON in the layout that Qwen's and Mistral's share, which is 1.05 to 1.08 times
// the count of compact JSON on two agents' tools, and a page of 44 tokens. Claude pays for compact JSON and 346.
//
// The tokens around texts are exact for messages without calls (OpenAI's cookbook publishes them), and a few tokens off
// for calls. The first use of an encoding builds its tables, which takes some tenths of a second; [Counter.Load] does it
// before.
//
// # Units
//
// Every cost is in tokens of the model's prompt, as its provider reports them in usage.prompt_tokens. Lengths
// are in bytes of UTF-8, pictures in pixels, sounds in seconds.
package tokenize
