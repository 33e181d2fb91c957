package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"laconic/cli/top"
	"laconic/config"
	"laconic/proxy/page"
)

// healthcheckCommand asks a running proxy whether it is ready: what a container
// without a shell has for its HEALTHCHECK.
func healthcheckCommand() *cobra.Command {
	var s settings
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "ask the running proxy whether it is ready: exit code 0 or 1",
		Long: "Asks /readyz at the admin address of the configuration, and prints what it says.\n" +
			"The exit code is 0 if the proxy is ready, else 1. Give it the flags that serve got.\n" +
			"Of the configuration it reads admin and admin_token alone.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.LoadAdmin(s.config, s.overrides(cmd)...)
			if err != nil {
				return printConfig(cmd.ErrOrStderr(), c, err, false)
			}
			says, err := askAdmin(cmd.Context(), c, "/readyz", timeout)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), says)
			}
			return err
		},
	}
	s.flags(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	return cmd
}

// askAdmin asks the admin address of a configuration for a page. An answer of failure
// is an error, and so is silence for longer than patience.
func askAdmin(ctx context.Context, c *config.Config, path string, patience time.Duration) (says string, err error) {
	if c.Admin == "" {
		return "", errors.New("there is no admin address to ask (admin: off)")
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	at := "http://" + clientAddress(c.Admin) + path
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	if c.AdminToken != "" {
		r.Header.Set("Authorization", "Bearer "+string(c.AdminToken))
	}
	direct := &http.Transport{DisableKeepAlives: true} // HTTP_PROXY is for the upstream
	res, err := direct.RoundTrip(r)
	if err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s: no answer in time", at)
		}
		return "", fmt.Errorf("%s: %w (does the proxy run? --admin and -c name another)", at, err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	says = strings.TrimSpace(string(text))
	switch {
	case res.StatusCode == http.StatusUnauthorized && c.AdminToken == "":
		return "", fmt.Errorf("%s: it wants the admin_token of the configuration that the proxy runs with (give this command the same file: -c FILE)", at)
	case res.StatusCode == http.StatusUnauthorized:
		return "", fmt.Errorf("%s: the admin_token of this configuration is not the one that the proxy runs with", at)
	case res.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s: %d %s", at, res.StatusCode, says)
	}
	return says, nil
}

// topCommand shows in a terminal what the page shows first.
func topCommand() *cobra.Command {
	var s settings
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "top",
		Short: "show in a terminal what is wrong with the running proxy",
		Long: "Asks the admin address of the configuration, again and again, and shows what the page shows\n" +
			"first: upstreams that are down, requests that failed, went out above their budget or were cut\n" +
			"short, by model and by client, with rate and time to the first byte. Ctrl-C ends it.\n\n" +
			"Give it the flags that serve got. Of the configuration it reads admin and admin_token alone.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.LoadAdmin(s.config, s.overrides(cmd)...)
			if err != nil {
				return printConfig(cmd.ErrOrStderr(), c, err, false)
			}
			return watchBoard(cmd.Context(), c, cmd.OutOrStdout(), once, max(every, 200*time.Millisecond))
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&once, "once", false, "show it once, as where the output is no terminal")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "how long to wait between")
	return cmd
}

// watchBoard writes the board of a running proxy until ctx is done. That there is none at
// first is an error; later it is shown.
func watchBoard(ctx context.Context, c *config.Config, w io.Writer, once bool, every time.Duration) error {
	screen, terminal := w.(*os.File)
	terminal = terminal && term.IsTerminal(int(screen.Fd()))
	for first := true; ; first = false {
		b, err := askBoard(ctx, c)
		if first && err != nil {
			return err
		}
		width, height := 0, 0
		if terminal {
			width, height, _ = term.GetSize(int(screen.Fd()))
		}
		if once || !terminal {
			_, err = fmt.Fprintln(w, strings.Join(top.Lines(b, time.Now(), width, 0), "\n"))
			return err
		}
		lines := []string{"not connected"}
		if err != nil {
			lines = append(lines, err.Error())
		} else {
			lines = top.Lines(b, time.Now(), width, height-1)
		}
		// From the top left, each line to its end, then the rest of the screen.
		if _, err := fmt.Fprint(w, "\x1b[H"+strings.Join(lines, "\x1b[K\r\n")+"\x1b[K\r\n\x1b[J"); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

func askBoard(ctx context.Context, c *config.Config) (*page.Board, error) {
	says, err := askAdmin(ctx, c, page.BoardPath, 5*time.Second)
	if err != nil {
		return nil, err
	}
	b := &page.Board{}
	if err := json.Unmarshal([]byte(says), b); err != nil {
		return nil, fmt.Errorf("what answers at %s is no laconic with a page: %w", clientAddress(c.Admin), err)
	}
	return b, nil
}
