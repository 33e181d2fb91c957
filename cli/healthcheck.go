package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.ask(cmd, timeout, http.MethodGet, "/readyz", nil)
		},
	}
	s.flags(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	return cmd
}

// askAdmin sends a request to the admin address of a configuration, with a form if
// there is one, and returns what the answer says. An answer of failure is an error.
func askAdmin(ctx context.Context, c *config.Config, method, path string, form url.Values) (says string, err error) {
	if c.Admin == "" {
		return "", errors.New("there is no admin address to ask (admin: off)")
	}
	at := "http://" + clientAddress(c.Admin) + path
	r, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
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
