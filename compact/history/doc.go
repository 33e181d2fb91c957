// Package history is for programs that hold a conversation themselves, rather
// than send it through the proxy. A [History] stays legal and within its
// budget however long it becomes: a pinned message keeps its bytes, a call
// stays with its results, and a round whose tools are still at work is left
// alone.
//
// [Exchanges], [ExchangesStrict] and [Join] take a list apart and put it
// together again without breaking a pair. [Summarize] compacts a list once,
// with a text that the caller writes.
package history
