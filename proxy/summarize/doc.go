// Package summarize writes the text of slots: what a model reads in place of
// the messages that left its conversation.
//
// It promises:
//
//   - never in the way: without a summary a span shows its digest, which a
//     program writes. No request waits longer than the options say, and a panic
//     costs the summary alone.
//   - ahead: past the warm mark the summary of the coming epoch is begun, so
//     that it is stored before it is needed.
//   - alone: where a summary arrives, the text of its span changes, and no other.
//   - once: one job makes the summary of a gap, however many requests need it.
//     It ends by its deadline or with the service, never because a client left.
//   - apart: whoever has another credential, upstream, query, policy or history
//     has another summary.
//   - erasable: what is stored and remembered of one owner can be removed, and what
//     is being made for it then is stored nowhere.
//   - polite: a model that failed is left alone for a while, longer each time,
//     and jobs return their memory when requests need it.
//
// A slot is a list of spans, to which each epoch adds one, or makes one of all. Each
// has a summary of its own. The gap of the coming epoch's span is fixed at the warm
// mark, so the key of its summary is known before the epoch. A key is a chain of
// hashes of the messages in the gap. It does not depend on the size of the span, nor
// on the spans before: a span of all is written from their summaries, the messages
// of those without one, and what came since.
//
// Where thinking is bound to the text of a slot, a span that got a digest keeps it
// until the next epoch.
//
// Digests are made by the records of the policy, and remembered under a chain of
// hashes of all that a record was told.
//
// Package prompt says what the model is asked and what of its answer is taken,
// and package redact masks secrets in both.
package summarize
