package cli

import (
	"errors"
	"fmt"
	"strings"

	"laconic/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError returns an error of a flag in words of the command line.
func flagError(cmd *cobra.Command, err error) error {
	var (
		absent  *pflag.NotExistError
		valued  *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &absent):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		name := absent.GetSpecifiedName()
		if absent.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("there is no flag -%s (%s --help lists them)", name, cmd.CommandPath())
		}
		if near := config.Nearest(name, known); near != "" {
			return fmt.Errorf("there is no flag --%s, did you mean --%s?", name, near)
		}
		return fmt.Errorf("there is no flag --%s (%s --help lists them)", name, cmd.CommandPath())
	case errors.As(err, &valued):
		return fmt.Errorf("--%s needs a value: %s", valued.GetFlag().Name, kindOfFlag(valued.GetFlag()))
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s cannot be %q: it takes %s", invalid.GetFlag().Name, invalid.GetValue(), kindOfFlag(invalid.GetFlag()))
	}
	return err
}

// kindOfFlag returns what a flag takes, in words.
func kindOfFlag(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "intSlice":
		return "whole numbers, with commas between"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	return "text"
}

// noArguments refuses arguments: one of the root is a command that was mistyped.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasParent():
		return fmt.Errorf("%s takes no arguments, and %q is one", cmd.CommandPath(), args[0])
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	if near := config.Nearest(args[0], known); near != "" {
		return fmt.Errorf("there is no command %q, did you mean %s?", args[0], near)
	}
	return fmt.Errorf("there is no command %q; there are %s", args[0], strings.Join(known, ", "))
}

// oneFile refuses more than one file.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one file, not %d", cmd.CommandPath(), len(args))
	}
	return nil
}
