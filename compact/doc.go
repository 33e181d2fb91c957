// Package compact keeps a conversation legal and inside its budget. It decides
// what to change in a conversation and why, as data. It is pure: it knows no
// HTTP, no log, no clock, no tokenizer and no memory of earlier requests.
//
// [Compact] returns a [Plan] and a [Report]. [Plan.Apply] returns the messages to
// send. [Broken] checks the promises below. Package stage has the stages, package
// policy ladders that other systems are known for, package history a
// conversation that grows.
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
// change; [Pins] names them, and a wire those that it keeps. The task is what users say before the first answer:
// agents put rules and an environment before what the user asks, in messages of
// their own. Its last message stays, and the newest of those before it, up to a third
// of the budget; older ones leave like any exchange. Protected messages are
// instructions, pins, the task and the newest user message. Recent messages are the
// last exchanges: as many as fit into 15 % of the headroom and 20,000 tokens, and at
// least one ([KeepRecent]). All other messages are old.
//
// Repair makes the pairs of calls and results legal. A stage is one way to save
// tokens. The ladder is the list of stages, least harmful first. A draft is a
// conversation being edited. An edit is one change with its reason. A plan is the
// list of edits of one conversation.
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
// Bound thinking is thinking that an upstream accepts only if it follows exactly
// the prefix it was written after. Every epoch changes that prefix, so every epoch
// removes it. Within a turn of the model, which ends when a user speaks, an epoch
// happens only if the request would not fit otherwise.
//
// # Promises
//
// Each has a check of the same name in [Broken], or in compacttest.Sweep if it
// takes two runs to see it.
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
// # The fold
//
// A client of the chat API sends the whole history again in each request. If
// compaction looked at the current request only, each request would be cut at a
// different place, and each cut would invalidate the provider's prompt cache. So
// the history is folded: its request points are visited in order, as the client
// must have sent them, and the ladder runs at each point where the cost is above
// the trigger.
//
//	tokens
//	budget ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
//	trigger┄┄┄┄┄┄┄┄╱│┄┄┄┄┄┄┄┄┄╱│┄┄┄┄┄┄┄┄┄╱│┄┄┄┄┄
//	             ╱  │       ╱  │       ╱  │
//	           ╱    │     ╱    │     ╱    │     ╱
//	land ┄┄┄┄╱┄┄┄┄┄┄│┄┄┄╱┄┄┄┄┄┄│┄┄┄╱┄┄┄┄┄┄│┄┄┄╱
//	       ╱        └─╱        └─╱        └─╱
//	     ╱        epoch 1    epoch 2    epoch 3   → request points
//
// Each epoch sees only the messages before it, so the next request repeats all
// earlier decisions exactly and adds to the end. The history is the memory. If the
// client rewrites its history, or policy or budget change, the epochs move and the
// cache is lost once.
//
// By default the trigger is 95 % of the budget with exact counts and 85 % with
// estimates, but at least four fifths of the headroom above what must stay. Land is
// 40 % of the headroom above what must stay. A slot that has grown to its full size
// takes 45 % of the headroom and recent messages 15 %, so an epoch leaves at most
// 60 %, unless the newest exchange is more than the share of recent messages. If it
// does not land, the next epoch waits for new tokens worth a fifth of the headroom,
// unless the budget forces one.
//
// An epoch saves the price of reading what leaves in each later request, and costs
// the price of sending anew what stays after the task. Below the
// budget there is one only if that pays in as many requests as the conversation has
// had so far, at a tenth of the price for a token that a prompt cache serves.
//
// If the last messages of a list ask about the ones before (Conversation.History),
// those are folded as if they were alone. Package handover does so for an agent
// that has its history summarized.
//
// # The gap
//
// Stages shorten old messages in place. Messages are removed only as whole
// exchanges, all within one contiguous range, the gap. It starts after the
// task, or with the messages of the task that do not stay, and grows at each epoch towards the recent messages, which it never
// reaches. Protected messages inside the gap survive.
//
//	system  user+slot │ a t │ a t │ a t │ USER │ a t │ a t │ a t │ a t
//	                  └── removed ──┘kept pinned └ removed ┘ └ recent …
//	                  from                                 to
//
// Removal never creates an order that the client's own list could not have: no user
// message directly after a user message or after tool results, no assistant message
// after a plain assistant message, and no call at the beginning of a list unless the
// client's begins so. Some chat templates and upstreams refuse these orders. So the
// gap ends before an assistant message, and the exchange before a surviving user
// message is kept. A user message that survives as the newest one may be removed at
// a later epoch, when it is not the newest any more.
//
// # The slot
//
// A slot is the text that stands for everything removed from the gap. It follows
// the text of the task, because no chat template objects to that. It
// consists of spans, one for each epoch. The text of a span is a digest, which the
// stage summarize makes without a model, or a summary that the caller has. In a list
// of parts each span is a part.
//
//	system  user + span 1               │ recent …      epoch 1
//	system  user + span 1 + span 2      │ recent …      epoch 2: span 1 stays
//	system  user + span 1 + span 2 + …  │ recent …
//	system  user + span 1               │ recent …      no room: one span for all
//
// The first span takes at most half of the size of the slot. A later one takes at
// most 30 % of it, and one token for six that left, and says what the spans before
// do not say. If there is no room for another, one span is made anew for everything
// that left. So a provider's prompt cache serves the slot of the epoch before, too. No
// span takes more than three quarters of the tokens that it replaces.
//
// A span is charged its size, whatever its text, so that the decisions after it do
// not depend on which summaries there are, and no digest is written that is not sent.
//
// Without summaries a span stands for all that is old at the epoch. A summary takes
// seconds to write, and must be ready when the epoch comes. So if the caller may have
// summaries ([Policy].Summaries), the messages that the next span stands for are
// chosen earlier, at the warm mark: the
// first request point whose cost is above what must stay plus 70 % of the headroom.
//
//	land ──────────── warm mark ──────────── trigger
//	                  gap of the next slot   the epoch: a slot for exactly
//	                  is fixed; Forecast     that gap, or none
//	                  returns it
//
// What arrives between warm mark and epoch is too new to be described. If one request
// jumps past both levels, the gap is fixed at that request. A caller without a
// summary for a span, or with one that is larger, uses the digest. If removing the
// gap is not enough, the stages after summarize remove more.
//
// # Six messages
//
// Every word counts as one token. The budget is 400, land is half of the headroom,
// and the ladder is the stage summarize with a slot of at most 64 tokens. [Compact]
// has this example as code.
//
//	0 system      10 tokens
//	1 user        20        ← request 1: 30 tokens
//	2 assistant    2  a call
//	3 tool       250        ← request 2: 282 tokens
//	4 assistant    2  a call
//	5 tool       120        ← request 3: 404 tokens
//
// What must stay is the system message, the user message and the newest call,
// 32 tokens: the headroom is 368. The warm level is 32 + 70 % of 368 = 289, the
// trigger 95 % of 400 = 380, because counts are exact, and land 32 + 50 % of
// 368 = 216.
//
// Requests 1 and 2 are below the trigger and go out as they came. Request 3 is above
// it: an epoch. Messages 4 and 5 are the newest exchange, so they are recent. The gap
// is [2, 4). Its 252 tokens are removed, and a slot of 64, for which the caller may
// have a summary, follows the text of message 1:
//
//	0 system      10
//	1 user        20 + 64
//	4 assistant    2
//	5 tool       120        = 216 tokens, landed
//
// Then a call of 2 tokens and a result of 30 arrive. Request 4 has 8 messages, 436
// tokens in total. The fold visits the request points again, makes the same epoch at
// 6 messages, and counts 216 + 32 = 248 at 8, which is below the trigger. The four
// messages that were sent in request 3 are sent again byte for byte, followed by two
// more.
//
// # When it does not fit
//
// If nothing else was enough, the last resort shrinks the slot and cuts the largest
// tool results, recent ones included, to what fits, and then long strings in recent
// arguments. If the request is still above the budget, it is reported as over; the
// caller forwards or refuses it.
//
// # Complexity
//
// A call is linear in the size of the conversation, whatever it contains. Each
// message is counted once, each stage sees each message once, and a record reads each
// message once. The gap only grows. The number of epochs is bounded, because enough
// must arrive between two of them. If the total is below the trigger, no epoch is
// possible and only the costs are computed. Remembering counts between calls is the
// caller's job.
//
// # Concurrency
//
// [Compact], [Repair], [Broken] and [Plan.Apply] of a plan without a slot may be
// called concurrently. They only read policies, counters, stages and budgets, which may be shared; a counter or
// a stage of the caller's own must allow that. A [Draft] belongs to one goroutine, and
// so does a plan with a slot, because [Slot.Digest] makes its texts at the first
// call. A plan keeps its conversation's texts alive for as long as the plan is
// referenced; a plan decoded from JSON does not.
package compact
