package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"laconic/cli/runlog"
	"laconic/config"
	"laconic/demo"
	"laconic/demo/strict"
)

func demoCommand() *cobra.Command {
	var fast bool
	var budget int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "see the whole product at work, on this machine alone: no network, no key",
		Long: "Starts a strict upstream and the proxy on loopback, lets a coding agent's conversation\n" +
			"grow past its budget turn by turn, and draws what happens.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if budget < 1 {
				return errors.New("--budget is a number of tokens above 0")
			}
			out := cmd.OutOrStdout()
			f, ok := out.(*os.File)
			terminal := ok && term.IsTerminal(int(f.Fd()))
			o := demo.Options{Out: out, Fast: fast || !terminal, Color: terminal && os.Getenv("NO_COLOR") == "", Budget: budget}
			return runDemo(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "no pauses between the turns")
	cmd.Flags().IntVar(&budget, "budget", demo.Budget, "the proxy's budget, in tokens of prompt")
	return cmd
}

// runDemo starts the upstream and the proxy and plays the show through them.
func runDemo(ctx context.Context, o demo.Options) error {
	upstream := strict.New(strict.Options{Limit: demo.Limit})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: upstream, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	src := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: \"off\"\nupstream: http://%s/v1\nmodels:\n  - match: \"*\"\n    budget: %d\n    tokenizer: bytes/3.5\n", l.Addr(), o.Budget)
	c, err := config.Parse("demo", []byte(src), os.LookupEnv)
	if err != nil {
		return err
	}
	log := runlog.New("error", "json", io.Discard)
	defer log.Close()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	addr, _, ended, err := startProxy(serving, c, log)
	if err != nil {
		return err
	}
	o.Proxy, o.Upstream = "http://"+addr+"/v1", upstream
	err = demo.Run(ctx, o)
	stop()
	<-ended
	return err
}
