// Package e2e compares the repository's pages and imports with what is there. Its
// folders run the laconic command as its users do, as a process, and need more each:
//
//   - stories: nothing; a contributor's loop
//   - sweep: nothing; recorded requests, folded in many ways
//   - binary: what is around the command, such as nginx, Prometheus and Chromium
//   - deploy: what `make deploy` builds, for the chart
//   - llamacpp: a real llama-server, which `make llamacpp` fetches
//   - survival, cluster: minutes; see there
//
// What several folders need is in package rig. Upstreams are stricter than real ones,
// but for those of llamacpp.
package e2e
