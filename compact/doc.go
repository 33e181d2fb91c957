// Package compact keeps a conversation legal and inside its budget. It decides
// what to change in a conversation and why, as data: it is pure and knows no
// HTTP, no JSON, no log, no clock, no tokenizer and no memory of earlier
// requests.
//
// # Promises
//
// Each has a check of the same name in [Broken], or in compacttest.Sweep where
// it takes two runs to see it.
//
//   - untouched: a conversation that needs nothing comes back as the same
//     list, and a message that is not marked as edited is the client's.
//   - paired: whatever came in, what goes out has every tool call answered
//     exactly once, directly after its message, and no result without a call.
//     Repair keeps a result whose id is in one call and one result, after that
//     call and with its content, unless the model is to continue that call, or
//     bound thinking is between them; what it drops is counted.
//   - fits: what goes out is within the budget by the model's own count, or the
//     report says over. Where what must stay leaves less than a quarter of the
//     budget, an epoch plans for what must stay and a quarter of the budget,
//     because forgetting everything would not help. A policy that rejects what
//     is over plans for its budget.
//   - kept: system and developer messages, pins, the first and the newest user
//     message and the recent exchanges keep their own text, except bound
//     thinking; a slot may follow the first user message's. The newest exchange
//     never leaves. Only the last resort may cut recent tool results, and then
//     long strings in recent arguments; a result of the newest exchange keeps
//     its head.
//   - stable: what was sent stays a prefix of what is sent next, except at an
//     epoch, where a later message decides which call a result answers, and
//     where a request took bound thinking out (Conversation.Unbind). Such
//     thinking follows what it was written after, or is away. Between two
//     epochs enough arrives to be worth one.
//   - stateless: a plan is a function of conversation, policy and budget.
//   - idempotent: repairing what was repaired, and compacting what is at or
//     below the trigger, changes nothing.
//   - never worse: a stage shrinks or does nothing.
//
// # Words
//
// A conversation is what the model will read; messages and parts are its
// pieces. An exchange is the smallest run that leaves together: an assistant
// message with its tool results, or one message alone. Instructions are system
// and developer messages. Pinned may not change. Protected are instructions,
// pins, and the first and the newest user message; recent are the last
// exchanges; old is everything else.
//
// Repair makes pairs legal. A stage is one way to save tokens, the ladder is the
// stages in order, a draft a conversation being edited, an edit one change with
// its reason, a plan the edits of one conversation.
//
// The budget is the tokens that a prompt may cost; the headroom is what is left
// of it above what must stay. A request point is a place where a client must
// have sent a request: before each assistant message, and the end; but not
// between a call and its result, nor within an answer of several messages that
// has bound thinking. An epoch is one climb of the ladder at a request point. It
// starts above the trigger and stops below land.
//
// Bound thinking is thinking that an upstream accepts only after the very prefix
// that it was written after. It leaves at every epoch, and within a turn of the
// model there is an epoch only if the request would not fit.
//
// # The fold
//
// A client of the chat API sends the whole history again in each request. If
// compaction looked at the current request only, every request would be cut at
// another place, and every cut would throw the provider's prompt cache away. So
// the history is folded: its request points are visited in order, as the client
// must have sent them, and the ladder is climbed at each point where the cost
// passes the trigger.
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
// earlier decisions exactly and adds to the end. The history is the memory.
//
// The defaults: trigger is 95 % of the budget with exact counts and 85 % with
// estimates; land is a quarter of the headroom above what must stay. If an epoch
// cannot land, the next one starts only after a quarter of the way from land to
// trigger has arrived, so that epochs stay apart.
//
// # The gap
//
// Stages shorten old messages in their place. What leaves, leaves as whole
// exchanges from one contiguous run, the gap. It starts after the first user
// message and grows at each epoch towards the recent messages. Protected
// messages inside the gap survive.
//
//	system  user+slot │ a t │ a t │ a t │ USER │ a t │ a t │ a t │ a t
//	                  └── removed ──┘kept pinned └ removed ┘ └ recent …
//	                  from                                 to
//
// The next message after a removed one is always one that could follow in the
// client's list: no user message directly after a user message or after tool
// results, no assistant message after a plain assistant message, and no call at
// the beginning of a list unless the client's begins so. Some chat templates and
// upstreams refuse these orders. So the gap ends before an assistant message, and the exchange before a
// surviving user message is kept. A newest user message survives inside the gap
// only while it is the newest; at a later epoch it may leave.
//
// # The slot
//
// A slot is one text for everything that left the gap: a digest, made by the
// stage without a model, or a summary that the caller has. It follows the text
// of the first user message, because no chat template objects to that. The slot
// is charged its size, whatever its text, so that the decisions after it do not
// depend on the text. A slot takes at most three quarters of what left for it. A
// later epoch absorbs it: the gap still begins at the same place, and the new
// slot is for all of the gap. Slot.Earlier has the ends of the earlier runs, so
// that a summary may be continued instead of made anew.
//
// A summary takes seconds to write, and must be there when the epoch comes. So
// which messages the next slot stands for is fixed earlier, at the warm mark. It
// is the first request point whose cost is above what must stay and 70 % of the
// headroom:
//
//	land ──────────── warm mark ──────────── trigger
//	                  gap of the next slot   the epoch: a slot for exactly
//	                  is fixed; Forecast     that gap, or none
//	                  returns it
//
// What arrives between warm mark and epoch is too new to be described. If the
// first request above the trigger is also the first above the warm mark, the
// mark is there.
//
// # Six messages
//
// A token is a word, the budget is 400, land is half of the headroom, and the
// ladder is the stage summarize with a slot of at most 64 tokens. [Compact] has
// this example as code.
//
//	0 system      10 tokens
//	1 user        20        ← request 1: 30 tokens
//	2 assistant    2  a call
//	3 tool       250        ← request 2: 282 tokens
//	4 assistant    2  a call
//	5 tool       120        ← request 3: 404 tokens
//
// What must stay is the system message, the user message and the newest call,
// 32 tokens: the headroom is 368. The warm mark is at 32 + 70 % of 368 = 289,
// the trigger at 95 % of 400 = 380, land at 32 + 50 % of 368 = 216.
//
// Requests 1 and 2 are below the warm mark and go out as they came. Request 3
// is above the trigger: an epoch. Messages 4 and 5 are the newest exchange, so
// they are recent. The gap is [2, 4), its 252 tokens leave, and a slot of 64
// follows the text of message 1:
//
//	0 system      10
//	1 user        20 + 64
//	4 assistant    2
//	5 tool       120        = 216 tokens, landed
//
// Then a call of 2 tokens and a result of 30 arrive. Request 4 has 8 messages
// of 436 tokens. The fold visits the request points again, makes the same epoch
// at 6 messages, and counts 216 + 32 = 248 at 8, which is below the trigger. The
// four messages that were sent in request 3 are sent again, byte by byte, and
// two more.
//
// # When it does not fit
//
// If all else was not enough, the last resort shrinks the slot and cuts the
// largest tool results, recent ones included, down to what fits, then long
// strings in recent arguments. What is then still above the budget is reported
// as over; the caller forwards or refuses it.
//
// # Complexity
//
// Everything is linear in the size of the conversation, whatever it contains.
// Each message becomes visible once, each stage is offered each message once in
// the life of a draft, and the gap only grows. The number of epochs is bounded by
// what arrives between them. If no epoch is due, which the total decides,
// nothing but the costs is computed. Counting is the caller's: each message is
// counted once.
//
// # Concurrency
//
// [Compact], [Repair], [Broken] and [Plan.Apply] of a plan without a slot may be
// called concurrently; policies, counters, stages and budgets are read only and
// may be shared. A [Draft] belongs to one goroutine, and so does a plan with a
// slot, because [Slot.Digest] makes its text at the first call. A plan refers to
// the texts of its conversation until it is dropped; one that was read from JSON
// does not.
package compact
