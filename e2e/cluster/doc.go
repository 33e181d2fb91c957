// Package cluster runs several laconic processes as people do who outgrew one:
// behind HAProxy, with round robin and without sticky sessions, beside one Redis and
// in front of one upstream, with toxiproxy between all of them.
//
// It shows:
//
//   - replicas agree: a conversation whose every request meets another replica
//     reaches the upstream as from one process, byte for byte; each gap is summarized
//     once in all; and what one replica learns, the others know within a second.
//   - faults stay where they are: a Redis in whatever state fails no request, a link
//     to the upstream that breaks is never taken for one that ended, and a rolling
//     restart fails nothing.
//   - a request that needs nothing asks Redis nothing.
//
// LACONIC_CLUSTER=short takes a minute (`make check`), LACONIC_CLUSTER=full
// some minutes, and prints the tables of docs/replicas.md (`make cluster`). Without
// it nothing runs.
package cluster
