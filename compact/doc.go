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
//     Repair keeps a result whose id is in one call and one result, behind that
//     call and with its content, unless the model is to go on with that call, or
//     bound thinking stands between them; what it drops is counted.
//   - fits: what goes out is within the budget by the model's own count, or the
//     report says over. Where
//     what must stay leaves less than a quarter of the budget, that is planned
//     for and a quarter of the budget beside: forgetting everything would not
//     help. A policy that rejects what is over plans for its budget.
//   - kept: system and developer messages, pins, the first and the newest user
//     message and the recent exchanges keep their text, but for bound thinking,
//     and the newest exchange never leaves. Only the last resort may cut recent tool results, and behind
//     them long strings in recent arguments; a result of the newest exchange
//     keeps its head.
//   - stable: what was sent stays a prefix of what is sent next, except at an
//     epoch, where a later message decides which call a result answers, and
//     where a request took bound thinking out (Conversation.Unbind). Such
//     thinking stands behind what it was written behind, or is away. Between two epochs enough arrives to be worth one.
//   - stateless: a plan is a function of conversation, policy and budget.
//   - idempotent: repairing what was repaired, and compacting what is at or
//     below the trigger, changes nothing.
//   - never worse: a stage shrinks or does nothing.
//
// # Words
//
// A conversation is what the model will read; messages and parts are its
// pieces. An exchange is the smallest run that leaves together: an assistant
// message with its tool results, or one message alone. Pinned may not change.
// Repair makes pairs legal. A stage is one way to save tokens, the ladder is
// the stages in order, a draft a conversation being edited, an edit one change
// with its reason, a plan the edits of one conversation. A request point is a
// place where a client must have sent a request: before each assistant
// message, but not between a call and its result, nor within an answer of several
// messages that carries bound thinking; and the end. An epoch is one climb of the
// ladder at a request point. The budget is the tokens a prompt may cost; the room is what is left
// of it above what must stay. Start above the trigger, stop below land.
// Bound thinking is what an upstream takes only behind the very prefix that it
// was written behind: it leaves at every epoch, and within a turn of the model
// there is one only above the budget.
//
// # The fold
//
// A client of the chat API sends the whole history again at each turn. If
// compaction looked at the current request only, every turn would cut at
// another place, and every cut would throw the provider's prompt cache away.
// So the history is folded: its request points are walked in order, as the
// client must have sent them, and the ladder is climbed at each point where
// the cost passes the trigger.
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
// Each epoch sees only what stood before it, so the next turn repeats all
// earlier decisions exactly and adds to the end. The history is the memory.
package compact
