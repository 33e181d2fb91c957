// Package wire reads and writes the bodies of requests: bytes become a
// [compact.Conversation], and an edited list of messages becomes bytes again. It
// also reads what matters of answers. Each API is a [Wire]; see [For].
//
// What it promises:
//
//   - untouched: where nothing was edited, the very slice that came in goes
//     out. Otherwise every message that was not edited, and every other field,
//     keeps its bytes: order, spacing, numbers, escapes, unknown keys. Within
//     an edited message only the values that changed are replaced.
//   - unambiguous: a body is read in one way or not at all. Whatever two JSON
//     readers could take differently (a key twice, in any spelling; a key that
//     is ours but for its case; broken UTF-8; text behind the end) is refused
//     with a [PassError], and the caller forwards it unread.
//   - legal: what was valid JSON is valid JSON afterwards.
//   - alive: no body overflows the stack or costs more than linear time, and
//     memory is bounded by [MaxElements].
//   - private: no error holds anything of what a body says.
//
// A decoded conversation points into the body: its texts are views, decoded
// only when somebody asks for the characters. So a body must never be written
// to once it was decoded, and it stays in memory for as long as any
// text of it does.
//
// The package is pure: bytes in, bytes out; no clock, no network, no log.
package wire
