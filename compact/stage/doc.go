// Package stage is the ladder: the ways to save tokens, one per file, in order
// from the least to the most harmful.
//
// A stage sees a compact.Draft and can do only legal edits: it cannot part a
// call from its result, and it cannot reach what is pinned, recent or an
// instruction. It goes oldest first, stops as soon as the draft has landed,
// makes no edit that does not save, and is a no-op on its own output: what it
// writes in place of a text is recognised when it is met again, so that sizes
// in markers stay those of the original and nothing is elided twice.
//
// Stages are pure: their edits depend on the conversation and on their options
// alone. To add one, write one file and one line in Catalogue.
package stage
