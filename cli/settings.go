package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"laconic/config"
)

// settings are the flags that override keys of the configuration file.
type settings struct{ config string }

var overriding = []struct {
	flag, key, usage string
	names            []string // that it may have
}{
	{flag: "upstream", key: "upstream", usage: "base URL that replaces the client's /v1"},
	{flag: "listen", key: "listen", usage: "address to listen on"},
	{flag: "admin", key: "admin", usage: `address of /healthz, /readyz and /metrics; "off" for none`},
	{flag: "log-level", key: "log.level", usage: "debug, info, warn or error", names: []string{"debug", "info", "warn", "error"}},
	{flag: "log-format", key: "log.format", usage: "auto, console or json", names: []string{"auto", "console", "json"}},
}

// configFlag adds the flag that names the configuration file.
func configFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "config", "c", "", "configuration file (default: "+config.Usual+")")
}

func (s *settings) flags(cmd *cobra.Command) {
	configFlag(cmd, &s.config)
	for _, o := range overriding {
		cmd.Flags().String(o.flag, "", o.usage)
		if o.names != nil {
			_ = cmd.RegisterFlagCompletionFunc(o.flag, cobra.FixedCompletions(o.names, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
		}
	}
}

// overrides returns the settings that were given by a flag, or else by its variable:
// LACONIC_LOG_LEVEL is that of --log-level.
func (s *settings) overrides(cmd *cobra.Command) (over []config.Override) {
	for _, o := range overriding {
		from := "--" + o.flag
		value, _ := cmd.Flags().GetString(o.flag)
		if !cmd.Flags().Changed(o.flag) {
			from = "LACONIC_" + strings.ToUpper(strings.ReplaceAll(o.flag, "-", "_"))
			if value = os.Getenv(from); value == "" {
				continue
			}
		}
		over = append(over, config.Override{Key: o.key, Value: value, From: from})
	}
	return over
}

// load reads the configuration, and looks at the files that it names.
func (s *settings) load(cmd *cobra.Command) (*config.Config, error) {
	c, err := config.Load(s.config, s.overrides(cmd)...)
	if err == nil {
		err = c.CheckFiles()
	}
	return c, err
}

// refused writes why a command does not run with a configuration, and returns its exit
// code.
func refused(w io.Writer, c *config.Config, err error) error {
	printConfig(w, c, err, false)
	return exitError(1)
}
