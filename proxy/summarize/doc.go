// Package summarize writes the text of slots: what a model reads in place of
// the messages that left its conversation.
//
// It promises:
//
//   - never in the way: without a summary the slot gets its digest, which a
//     program writes. No request waits longer than the options say, and a panic
//     costs the summary alone.
//   - ahead: past the warm mark the summary of the coming epoch is begun, so
//     that it is stored before it is needed.
//   - once: one job makes the summary of a gap, however many requests need it.
//     It ends by its deadline or with the service, never because a client left.
//   - apart: whoever has another credential, upstream, query, policy or history
//     has another summary.
//   - polite: a model that failed is left alone for a while, longer each time,
//     and jobs return their memory when requests need it.
//
// The gap of the coming epoch is fixed at the warm mark, so the key of its summary
// is known before the epoch. A key is a chain of hashes of the messages in the gap.
// It does not depend on the size of the slot, so the summary of an earlier epoch is
// found, and only what came since is sent to the model.
//
// Where thinking is bound to the text of a slot, a slot that got a digest keeps it
// until the next epoch.
//
// Package prompt says what the model is asked and what of its answer is taken,
// and package redact masks secrets in both.
package summarize
