// Package demo plays the conversation of a coding agent through a running proxy
// and draws every request as it happens.
//
// It promises:
//
//   - real: the requests are made by an ordinary client (go-openai) that sends its
//     whole history each time, go over TCP through the proxy, and are judged by the
//     strict upstream of demo/strict.
//   - honest: sizes and outcomes come from the proxy's own answer headers and from
//     what the upstream got; what would have happened without the proxy is the
//     same upstream's verdict on the client's own bytes; an answer that arrives
//     changed ends the show with an error.
//   - the same every time: the conversation, a recorded one, is part of the
//     binary.
//   - bounded: nothing but loopback is needed, every request has a deadline.
package demo
