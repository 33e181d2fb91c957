// Package body moves the bodies of requests and answers through the proxy.
//
// It promises:
//
//   - unchanged: what is sent on is what the client sent, byte for byte; a
//     decompressed text is only read.
//   - bounded: a body takes memory as it arrives, and a compressed one is measured
//     before memory is taken for what is in it.
//   - no waiting for ever: every read and every write has a deadline, and no
//     request has one as a whole. A deadline never outlives its request.
//   - short: a body is held until the upstream has read it; one that is kept for a
//     retry is given up as soon as others need the memory.
//
// A compressed body is decompressed twice: first only to learn its size, then into
// memory that was taken for it. So a bomb is refused before it costs memory.
package body
