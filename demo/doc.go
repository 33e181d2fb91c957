// Package demo is the show: a coding agent works through a long task behind a running proxy, and every request
// is drawn as it happens.
//
// It guarantees:
//
//   - real: the requests are made by an ordinary client (go-openai, streaming) that sends its whole history
//     each time, go over TCP through the proxy, and are judged by the strict upstream of demo/strict.
//   - honest: sizes and outcomes come from the proxy's own answer headers and from what the upstream saw; what
//     would have happened without the proxy is the same upstream's verdict on the client's own bytes; an answer
//     that arrives changed ends the show with an error.
//   - the same every time: the conversation is shipped with the binary. Its files, edits and searches are played
//     on a small web service (parceld.txtar), the output of its commands was recorded from real runs.
//   - bounded: nothing but loopback is needed, every request has a deadline.
package demo
