// Package strict is an OpenAI-compatible upstream that refuses what the real one refuses.
//
// A proxy that edits conversations is only as good as the strictest server behind it. This one is an
// http.Handler with no network, no key and no model, so a demo and every test can ask it.
//
// It guarantees:
//
//   - legal: a conversation whose tool pairs, roles, content or sizes break OpenAI's rules is refused with
//     OpenAI's status, sentence, param and code, also when everything else in the request is fine.
//   - limited: a prompt above Options.Limit is refused with OpenAI's context_length_exceeded sentence and
//     its numbers; a prompt at the limit is answered.
//   - same verdict: Check says beforehand exactly what ServeHTTP would answer.
//   - bound: with Options.Thinks, thinking is signed together with all that stood before it, and a request
//     that sends it behind anything else is refused. These rules are from Anthropic's documents.
//   - real answers: JSON and server-sent events in the shape OpenAI sends, with usage, and with cached
//     tokens only where an earlier request had the same beginning.
//   - recorded: the bytes of every request are kept as they arrived, in a bounded ring.
//   - drained: every request body is read to its end, so a connection is never lost by a refusal.
//
// Where the rules come from: the error bodies that users of the API quote in public threads, named beside
// each rule, and the published request schema (openai/openai-openapi). OpenAI's own spelling is kept,
// mistakes included. Sentences that no thread quotes are made after their neighbours and marked "by analogy".
//
// JSON is read as encoding/json reads it: the last of two equal keys wins, as in Python, Node and Go
// servers; keys are compared exactly.
package strict
