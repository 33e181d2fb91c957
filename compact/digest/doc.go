// Package digest writes the text of a slot without a model: what left a
// conversation, in a few hundred words.
//
// It promises:
//
//   - bounded: a digest costs at most the tokens that its slot has.
//   - repeatable: the same messages make the same digest.
//   - honest: all of it is quoted from the messages that left, and labelled as
//     data. Nothing quoted can end the record, or pass for the words of a user.
//   - linear: the time grows with the bytes that left, whatever they are.
package digest
