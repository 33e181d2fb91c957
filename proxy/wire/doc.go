// Package wire reads and writes the bodies of requests: bytes become a
// [compact.Conversation], and an edited list of messages becomes bytes again. It
// also reads what matters of answers. Each API is a [Wire]; see [For].
//
// It promises:
//
//   - untouched: where nothing was edited, the very slice that came in goes
//     out. Otherwise every message that was not edited, and every other field,
//     keeps its bytes: order, spacing, numbers, escapes, unknown keys. Within
//     an edited message only the values that changed are replaced.
//   - unambiguous: a body is read in one way or not at all. A text that two JSON
//     readers could take differently (a key twice, in any spelling; a key that
//     is ours but for its case; broken UTF-8; text behind the end) is refused
//     with a [PassError], and the caller forwards it unread.
//   - legal: what was valid JSON is valid JSON afterwards.
//   - alive: no body overflows the stack or costs more than linear time, and
//     memory is bounded by maxElements.
//   - private: no error holds anything of what a body says.
//
// A message is never decoded and encoded again: that loses unknown fields, empty
// strings, number formats and cache markers. Edits are spliced into the client's
// own bytes.
//
// One walk over a body checks it and finds the places of all pieces. Where it fails,
// jsontext decides whether the body is JSON, and says why it is not.
//
// A decoded conversation points into the body: its texts are views, decoded only
// when somebody asks for the characters. So a body must not be written to after
// it was decoded, and it stays in memory as long as any of its texts does.
//
// The package is pure: bytes in, bytes out; no clock, no network, no log.
package wire
