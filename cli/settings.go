package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// variable returns the environment variable of a flag: LACONIC_LOG_LEVEL is that of
// --log-level.
func variable(flag string) string {
	return "LACONIC_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// byVariable is the annotation of a flag that its variable set.
const byVariable = "variable"

// setByVariables sets the flags of a command that are not given and whose variables are.
func setByVariables(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := os.Getenv(variable(f.Name))
		if f.Changed || value == "" || f.Name == "help" || f.Name == "version" { // these are commands
			return
		}
		if wrong := cmd.Flags().Set(f.Name, value); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", variable(f.Name), wrong))
		}
		_ = cmd.Flags().SetAnnotation(f.Name, byVariable, []string{}) // the flag exists
	})
	return err
}

// overrides returns the settings that were given by a flag or its variable.
func (s *settings) overrides(cmd *cobra.Command) (over []config.Override) {
	for _, o := range overriding {
		f := cmd.Flag(o.flag)
		if !f.Changed {
			continue
		}
		from := "--" + o.flag
		if f.Annotations[byVariable] != nil {
			from = variable(o.flag)
		}
		over = append(over, config.Override{Key: o.key, Value: f.Value.String(), From: from})
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
