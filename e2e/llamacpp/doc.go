// Package llamacpp starts a real llama-server for a test, with a model that it writes
// itself: a real vocabulary, a real chat template, and weights of which nearly all are
// zero. Such a model says one word for ever, but it is billed, cached, refused and cut
// as any other. It is loaded in a tenth of a second, and no model has to be fetched.
//
// Each test gets its own server, on a free loopback port; it ends with the test. The
// program is the one that `make llamacpp` fetches, or the one in the path.
package llamacpp
