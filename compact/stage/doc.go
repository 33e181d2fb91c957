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
// # Why this order
//
//   - The slot comes before the elisions. Eliding first lands without a slot, and
//     then nothing says what was in the results.
//   - The slot takes at most 0.4 of the room. Where instructions fill most of the
//     budget, each token of the slot makes the next epoch come earlier, and each
//     epoch costs cache misses.
//   - What leaves is chosen by age: a stage sees each result once, oldest first,
//     which keeps the fold linear. Eliding by use instead kept no more.
//   - What leaves is described by value: the digest weighs names by the calls that
//     used them, and quotes the lines that they occurred in.
//   - A failure, or "unchanged since it was read last", supersedes no earlier
//     result: it is not a good copy.
//   - The newest exchange never leaves. An agent that does not see what its call
//     returned makes the call again, for ever, at full price and with no error
//     anywhere. The last resort cuts its results only after all others, and each
//     keeps a head; long strings in its arguments are cut last.
//
// docs/measurements.md has the figures.
//
// # Adding a stage
//
// Write one file, one txtar file in testdata with its cases, and one line in
// [Catalogue].
package stage
