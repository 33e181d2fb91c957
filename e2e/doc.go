// Package e2e runs the laconic command as its users do: as a process between a
// client and an upstream, and never through its packages. What several folders need
// for that is in package rig.
//
// Upstreams are those of this package, which are stricter than real ones, but for:
//
//   - TestLlamaCpp…: a real llama-server, with a model that package llamacpp writes,
//     refuses, counts, renders and caches. A short form with the other tests, where
//     `make llamacpp` fetched one, and all of it by that command.
//   - TestOllama: a server that loads, cuts and answers as Ollama does.
package e2e
