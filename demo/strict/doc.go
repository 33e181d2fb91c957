// Package strict is an OpenAI-compatible upstream that refuses what the real
// one refuses. It needs no network, no key and no model.
//
// It promises:
//
//   - legal: a conversation whose tool pairs, ids, roles or content break
//     OpenAI's rules is refused, with OpenAI's status, code and, where users of
//     the API quote it in public, OpenAI's sentence, mistakes included. A request
//     of the messages API is held to Anthropic's rules in the same way.
//   - limited: a prompt above Options.Limit is refused with OpenAI's
//     context_length_exceeded sentence and its numbers; a prompt at the limit
//     is answered.
//   - same verdict: Read returns what ServeHTTP would answer.
//   - real answers: JSON and server-sent events in OpenAI's shape, with usage,
//     and with cached tokens only where an earlier request had the same
//     beginning.
//
// It shares no code with the proxy, and so no mistake.
//
// Of two equal keys the last one counts, as in Python, Node and Go servers;
// the keys of a request and of its messages are compared exactly.
package strict
