// Package prompt is the pure half of summaries: what a model is asked, what of
// its answer is taken, and the frame of the text in a conversation.
//
// It promises:
//
//   - data: a transcript is fenced, and nothing in it can end the fence. The
//     text that is taken is in a frame that nothing in it can end.
//   - whole: originals are rendered, calls, arguments and results included;
//     what does not fit into one prompt is split, oldest first, and merged.
//   - checked: an answer is taken only if it says something, is shorter than
//     its source, is whole and fits. See [Accept].
//   - masked: what looks like a secret is neither sent nor kept, unless masking is
//     off. See package redact.
//
// Everything here is a function of its arguments.
package prompt

// Version is the version of how a summary is made: what the model is asked, how
// messages are rendered and masked for it, and which of its answers are taken. A
// release that changes any of these raises it. It is part of the key of a stored
// summary, so that one that was made otherwise is not found.
const Version = "3"
