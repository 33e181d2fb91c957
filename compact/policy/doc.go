// Package policy has the ways to compact that people know by name: the adaptive
// one, which is Laconic's own, and those of five other systems.
//
// Adaptive is folded: it repeats at every turn what it decided before, so that
// the provider's prompt cache keeps hitting. The others compact each request as
// it comes, with the algorithm, the numbers and the estimate of tokens of the
// systems from which they are known; but a call never leaves without its
// results, instructions and pins stay, the newest message stays, and arguments
// and tools are counted.
package policy
