// Package stage is the ladder: the ways to save tokens, one per file, from the
// least to the most harmful.
//
// It promises:
//
//   - legal: a stage edits through a compact.Draft, which cannot part a call
//     from its result and does not reach pinned, recent or system messages.
//   - sparing: a stage works from the oldest message on, stops once the draft
//     has landed, and makes no edit that does not save.
//   - idempotent: a stage does nothing on its own output. The text that it
//     writes is recognized when it is met again, so that sizes in markers are
//     those of the original and nothing is elided twice.
//   - pure: edits depend on the conversation and on the stage's options alone.
//
// To add a stage, write one file and one line in Catalogue.
package stage
