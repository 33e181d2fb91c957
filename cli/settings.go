package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"laconic/config"
)

// settings are the flags that override keys of the configuration file.
type settings struct{ config, upstream, listen, admin, logLevel, logFormat string }

func (s *settings) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", "", "configuration file (default: "+config.Usual+")")
	f.StringVar(&s.upstream, "upstream", "", "base URL that replaces the client's /v1")
	f.StringVar(&s.listen, "listen", "", "address to listen on")
	f.StringVar(&s.admin, "admin", "", `address of /healthz, /readyz and /metrics; "off" for none`)
	f.StringVar(&s.logLevel, "log-level", "", "debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "", "auto, console or json")
	_ = cmd.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp)) // the flags exist
	_ = cmd.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions([]string{"auto", "console", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// overrides returns the settings that were given by a flag, or else by its variable:
// LACONIC_LOG_LEVEL is that of --log-level.
func (s *settings) overrides(cmd *cobra.Command) []config.Override {
	var over []config.Override
	for _, o := range []struct{ flag, key, value string }{
		{"upstream", "upstream", s.upstream},
		{"listen", "listen", s.listen},
		{"admin", "admin", s.admin},
		{"log-level", "log.level", s.logLevel},
		{"log-format", "log.format", s.logFormat},
	} {
		if cmd.Flags().Changed(o.flag) {
			over = append(over, config.Override{Key: o.key, Value: o.value, From: "--" + o.flag})
			continue
		}
		variable := "LACONIC_" + strings.ToUpper(strings.ReplaceAll(o.flag, "-", "_"))
		if v := os.Getenv(variable); v != "" {
			over = append(over, config.Override{Key: o.key, Value: v, From: variable})
		}
	}
	return over
}

// refused writes why a command does not run with a configuration, and returns its exit
// code.
func refused(w io.Writer, c *config.Config, err error) error {
	printConfig(w, c, err, false)
	return exitError(1)
}
