// Package prompt is the pure half of summaries: what a model is asked, what of
// its answer is taken, and how the text stands in a conversation.
//
// What it promises:
//
//   - data: a transcript is fenced, and nothing in it can end the fence. The
//     text that is taken stands in a frame that nothing in it can end.
//   - whole: originals are rendered, calls, arguments and results included;
//     what does not fit into one prompt is split, oldest first, and merged.
//   - checked: an answer is taken only if it says something, is shorter than
//     what it stands for, is whole and fits. See Accept.
//   - verbatim: rules, numbers, paths and names of the user's messages that the
//     answer lost are added as they stood.
//   - masked: what looks like a secret is neither sent nor kept, if so wanted.
//     That takes time in proportion to the text, whatever stands in it.
//
// Everything here is a function of its arguments.
package prompt

// Version names prompt, rendering and frame. A text that was made under another
// version is not the same text, so this is part of its key.
const Version = "2"
