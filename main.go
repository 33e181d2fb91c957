// Laconic is an OpenAI-compatible reverse proxy that keeps every conversation
// legal and inside its model's budget, without the client noticing.
//
// A client points OPENAI_BASE_URL at it and changes nothing else. On every
// POST …/chat/completions the tool pairs of messages are repaired, and when the
// conversation outgrows the model's budget it is compacted in place; then the
// request is forwarded and the answer streamed back unchanged. Everything else
// passes through.
//
// It listens on 127.0.0.1:7280, and on 127.0.0.1:7281 for /healthz and
// /readyz. Logs go to standard error, one line a request that was edited; that
// nobody reads them holds nothing up.
// SIGINT and SIGTERM let open answers end, a second one does not.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"laconic/cli"
)

func main() {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cause := errors.New("SIGTERM")
		if <-signals == os.Interrupt {
			cause = errors.New("SIGINT")
		}
		stop(cause)
		second, _ := (<-signals).(syscall.Signal)
		os.Exit(128 + int(second)) // as shells name an end by a signal
	}()
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
