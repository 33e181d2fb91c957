// Package e2e runs the laconic command as its users do: as a process between a
// client and an upstream, and never through its packages.
//
// It measures what a long session leaves to the model. A scripted agent makes
// forty calls in a made-up workspace, in front of an upstream that is as strict
// as OpenAI and counts as nobody knows. Each request that the upstream accepts is
// read as the model would read it: is the newest result there, and what is left
// of the facts that the agent needs at the end?
//
//   - TestSurvival: the agent is a loop of this package. A few sessions with the
//     other tests, all of them by `make survival`.
//   - TestClients: the agents are those that people use, from npm, by `make e2e`.
//   - TestRunClients: the same agents find the proxy that laconic run starts.
//   - TestLoopEnds: an agent that calls again whatever it cannot see the result of
//     comes to its end.
//
// Upstreams are those of this package, which are stricter than real ones, but for:
//
//   - TestLlamaCpp…: a real llama-server, with a model that package llamacpp writes,
//     refuses, counts, renders and caches. A short form with the other tests, where
//     `make llamacpp` fetched one, and all of it by that command.
//   - TestOllama: a server that loads, cuts and answers as Ollama does.
package e2e
