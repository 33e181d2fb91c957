// Package replay sends recorded conversations through policies again and
// measures what each policy would have done to them: what the agent would have
// forgotten, whether every request would have fitted and been legal, and what
// the provider would have charged with its prompt cache.
//
// # Promises
//
//   - honest: every number is measured on what would have been sent, and none is
//     taken from a policy's own report. Tokens are counted again, and facts are
//     searched in the text.
//   - the same question for all: all policies see the same requests under the
//     same budgets, counted by the same counter.
//   - repeatable: the numbers do not depend on the number of workers.
//   - flat: one conversation per worker is in memory, however long a file is.
//   - never silent: a line that cannot be read is reported with its file and
//     line, and the others are replayed.
//
// # Words
//
// A request point is a place where a client must have sent a request: before
// each assistant message, after all results it waited for. A fact is a
// name, a number or a quoted word that a tool call used and that occurred earlier
// in the conversation (Facts). Recall is the share of the facts that
// are still somewhere in the request that led to the call; verbatim counts
// those whose last occurrence is still there with its surroundings. A fact is
// hard if the message of its last occurrence left the request or was changed;
// the others say nothing about what stands for a message. All look only at
// requests whose full size exceeds the budget. The peak of a conversation is the
// cost of its largest request.
//
// Edits measure what an agent needs beside facts: whether all lines that the next one
// replaces are shown (Kept). A model may not use a text that is in a request: all of
// these are upper bounds.
//
// # Cost
//
// A provider with a prompt cache charges little for the part of a request that
// has the prefix of the previous request. So the bill of a conversation is the sum over its
// requests of (uncached × write + cached × price of a cached token), where
// cached is the longest common prefix with the previous request. The cost of a
// policy is its bill divided by that of sending everything.
package replay
