package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"laconic/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError returns an error of a flag in words of the command line.
func flagError(cmd *cobra.Command, err error) error {
	var absent *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &absent):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		name := absent.GetSpecifiedName()
		if near := config.Nearest(name, known); near != "" && absent.GetSpecifiedShortnames() == "" {
			return fmt.Errorf("there is no flag --%s, did you mean --%s?", name, near)
		}
		return fmt.Errorf("%w (%s --help lists the flags)", err, cmd.CommandPath())
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s cannot be %q: it is of the type %s", invalid.GetFlag().Name, invalid.GetValue(), invalid.GetFlag().Value.Type())
	}
	return err
}

// noArguments refuses arguments: one of the root is a command that was mistyped.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || cmd.HasParent() {
		return cobra.NoArgs(cmd, args)
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	slices.Sort(known)
	if near := config.Nearest(args[0], known); near != "" {
		return fmt.Errorf("there is no command %q, did you mean %s?", args[0], near)
	}
	return fmt.Errorf("there is no command %q; there are %s", args[0], strings.Join(known, ", "))
}
