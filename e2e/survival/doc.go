// Package survival measures what a long session leaves to the model. A scripted agent
// makes forty calls in a made-up workspace, in front of an upstream that is as strict
// as OpenAI and counts as nobody knows. Each request that the upstream accepts is
// read as the model would read it: is the newest result there, and what is left
// of the facts that the agent needs at the end?
//
//   - TestSurvival: the agent is a loop of this package. A few sessions with the
//     other tests, all of them by `make survival`.
//   - TestClients: the agents are those that people use, from npm, by `make e2e`.
//   - TestClaudeOnLlamaCpp: Claude Code in front of a real llama-server.
//   - TestRunClients: the same agents find the proxy that laconic run starts.
//   - TestLoopEnds: an agent that calls again whatever it cannot see the result of
//     comes to its end.
//   - TestBoundThinkingSurvives: so does one whose thinking is bound to what came
//     before it.
package survival
