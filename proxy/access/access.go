// Package access decides who may use the proxy, where a request may go, and whose
// credential goes with it. Its functions read headers and URLs and nothing else.
//
// It promises:
//
//   - closed: a request reaches only the URL of its upstream; no path, header or
//     spelling in it moves its destination.
//   - credentials: a client's key goes only to an upstream that the operator
//     allowed; a key of the proxy's goes only to the endpoints of models. No
//     upstream gets both.
//   - loopback: a listener on loopback serves neither foreign web pages nor names
//     that were made to resolve to it.
//   - constant time: comparing client keys shows nothing of them.
//   - hidden: a [Secret] is never printed, logged or encoded.
//
// Paths are recognised as the most forgiving server would read them: a path that
// some server takes for the endpoint of a model is treated as one.
package access
