package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"laconic/config"
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
				return refused(cmd.ErrOrStderr(), c, err)
			}
			ctx, stop := context.WithTimeout(cmd.Context(), timeout)
			defer stop()
			says, err := askAdmin(ctx, c, "/readyz")
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
// is an error.
func askAdmin(ctx context.Context, c *config.Config, path string) (says string, err error) {
	if c.Admin == "" {
		return "", errors.New("there is no admin address to ask (admin: off)")
	}
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
			err = errors.New("no answer in time")
		}
		return "", fmt.Errorf("%s: %w", at, err)
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
