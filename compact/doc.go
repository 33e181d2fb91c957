// Package compact keeps a conversation legal and inside its budget. Call [Compact],
// and send what [Plan.Apply] returns:
//
//	p := &compact.Policy{Ladder: stage.Default()}
//	conversation := compact.Conversation{Messages: messages, Fixed: tools}
//	plan, report := compact.Compact(conversation, p, counter, compact.Limits{Window: 128_000}.For(0))
//	if report.Outcome != compact.Over {
//		send(plan.Apply())
//	}
//
// [Repair] alone makes the pairs of calls and results legal. Package stage has the
// stages, package policy the ladders that other systems are known for, package history
// a conversation that a program holds itself, and package promises the checks. Package
// compact is pure: it knows no HTTP, no log, no clock, no tokenizer and no memory of
// earlier requests.
//
// # Promises
//
// Each has a check of the same name in package promises, or in compacttest.Sweep if
// it takes two runs to see it.
//
//   - untouched: a conversation that needs nothing comes back as the same list. A
//     message not marked as edited is exactly what the client sent.
//   - paired: whatever came in, what goes out has every tool call answered exactly
//     once, directly after its message, and no result without a call. If an id
//     occurs in exactly one call and one result, Repair keeps that result, content
//     intact, and puts it after its call. It does not if the model is to continue
//     that call, or if bound thinking is between the two. Dropped results are
//     counted.
//   - fits: what goes out is within the budget by the model's own count, or the
//     report says over. If what must stay leaves less than a quarter of the
//     budget, an epoch aims at what must stay plus a quarter of the budget, even
//     though that is over: an agent that forgets everything gets nowhere. A policy
//     that rejects oversized requests always aims at the budget.
//   - kept: instructions, pins, the task, the newest user message and the recent
//     exchanges keep their own text, except bound thinking. A slot may
//     follow the task's text. The newest exchange is never removed.
//     Only the last resort may cut recent tool results, and after them long strings
//     in recent arguments. A result of the newest exchange keeps its head.
//   - stable: what was sent stays a prefix of what is sent next, with three
//     exceptions: at an epoch; when a later message changes which call a result
//     answers; and when a request removed bound thinking (Conversation.Unbind).
//     Bound thinking either still follows the prefix it was written after, or is
//     removed. The text of the slot begins with its text of the epoch before,
//     until it is made anew. An epoch that the budget does not force saves more
//     than it costs. Counts that turn out to be wrong move no epoch: a [Rate]
//     decides nothing before the length of the list that it begins at.
//   - stateless: a plan is a function of conversation, policy and budget.
//   - idempotent: repairing what was repaired, and compacting what is at or below
//     the trigger, changes nothing.
//   - never worse: a stage shrinks or does nothing.
//   - met: a list is sent as the chat template behind the upstream demands it
//     ([Demands]), and says all that the folded list says, in its order. Text of an
//     instruction may stand in another message, but not beyond an answer.
//
// # Words
//
// A conversation is what the model will read; messages and parts are its pieces.
// An exchange is the smallest run that is removed together: an assistant message
// with its tool results and the notes behind them, or one message alone. Some APIs
// have answers that go on behind a result; the exchange goes on with them.
//
// Instructions are system and developer messages, except directly behind results:
// those are notes, of the tokens that are left or the like. A pinned message may not
// change; [Pins] names them, and a wire those that it keeps. The task is what users
// say before the first answer: agents put rules and an environment before what the
// user asks, in messages of their own. Its last message stays, and the newest of those
// before it, up to a third of the budget; older ones leave like any exchange. Protected
// messages are instructions, pins, the task and the newest user message. Recent
// messages are the last exchanges ([KeepRecent]). All other messages are old.
//
// A stage is one way to save tokens, and the ladder the list of stages, least harmful
// first. A draft is a conversation being edited. An edit is one change with its reason,
// and a plan the list of edits of one conversation.
//
// The budget is the number of tokens that a prompt may cost. What must stay is
// instructions, pins, the task, the newest user message, and the newest calls, but
// not their results, which can be cut. The headroom is the budget minus what must
// stay.
//
// A request point is a place where a client must have sent a request: before each
// assistant message, and at the end of the list. There is none between a call and
// its result, and none within an answer of several messages that has bound
// thinking. An epoch is one run of the ladder at a request point. It starts if the
// cost is above the budget, or if it is above the trigger and the epoch pays. It
// ends when the cost is at land or below.
//
// The gap is the contiguous range from which exchanges were removed. The slot is the
// text that stands for them, after the text of the task. It has one span for each
// epoch. The text of a span is a digest, which the stage summarize makes without a
// model, or a summary that the caller has.
//
// Bound thinking is thinking that an upstream accepts only if it follows exactly
// the prefix it was written after. Every epoch changes that prefix, so every epoch
// removes it. Within a turn of the model, which ends when a user speaks, an epoch
// happens only if the request would not fit otherwise.
//
// # The fold
//
// A client sends the whole history again in each request. So the history is folded:
// its request points are visited in order, as the client must have sent them, and the
// ladder runs at each point where an epoch is due. Each epoch sees only the messages
// before it, so the next request repeats all earlier decisions exactly and adds to the
// end. The history is the memory. If the client rewrites its history, or policy or
// budget change, the epochs move and the prompt cache is lost once. docs/design.md has
// the pictures, when an epoch pays, and what the warm mark is for; [Policy] has the
// defaults.
//
// # Complexity
//
// A call is linear in the size of the conversation, whatever it contains. Each
// message is counted once, each stage sees each message once, and a record reads each
// message once. The gap only grows. There is at most one epoch for each answer, and an
// epoch copies no message. If the total is below the trigger, no epoch is possible and
// only the costs are computed.
//
// # Concurrency
//
// [Compact], [Repair] and [Plan.Apply] of a plan without a slot may be called
// concurrently. They only read policies, counters, stages and budgets, which may be
// shared; a counter or a stage of the caller's own must allow that. A [Draft] belongs
// to one goroutine, and so does a plan with a slot, because [Slot.Digest] makes its
// texts at the first call. A plan keeps its conversation's texts alive.
package compact
