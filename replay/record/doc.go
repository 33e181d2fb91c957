// Package record reads recorded conversations.
//
// # Promises
//
//   - never silent: every line, element or entry that cannot be read is named
//     with its place and the reason, and the ones after it are read.
//   - flat: one conversation is in memory, and of requests that continue one
//     another at most sixteen, however long a file is.
//   - as the proxy reads: a body that the proxy would not take as a chat request
//     is no conversation here.
//
// A file holds JSON lines, one JSON body, an array of bodies, or a HAR archive.
package record
