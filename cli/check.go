package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/why"
)

func checkCommand() *cobra.Command {
	var s settings
	var jsonOut bool
	var model string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "check a configuration file: every error at once, with its place",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				s.config = args[0]
			}
			c, err := s.load(cmd)
			if err == nil && model != "" {
				return explain(c, cmd.Context(), cmd.OutOrStdout(), model)
			}
			if code := printConfig(cmd.OutOrStdout(), c, err, jsonOut); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print the problems as JSON")
	cmd.Flags().StringVar(&model, "explain", "", "say what requests for this `MODEL` may cost, and where its window comes from")
	return cmd
}

// printConfig prints what config.Load returned: what is wrong with a configuration, or what
// it comes to. The result is the exit code: 0 valid, 1 not. With jsonOut the output is a
// JSON array of problems, empty for a valid configuration.
func printConfig(w io.Writer, c *config.Config, err error, jsonOut bool) int {
	ps := config.ProblemsOf(c.File(), err)
	switch {
	case jsonOut:
		_ = printJSON(w, append(config.Problems{}, ps...))
	case len(ps) > 0:
		fmt.Fprintf(w, "%s\n\n%s\n", ps.Error(), number.Count(len(ps), "problem"))
	default:
		fmt.Fprint(w, description(c))
	}
	if len(ps) > 0 {
		return 1
	}
	return 0
}

// hints returns what may have been meant otherwise.
func hints(c *config.Config) []finding {
	all := c.Hints()
	for _, m := range c.Models {
		if small := why.Small("Ollama", m.Match, m.Window); small.Says != "" && strings.Contains(cmp.Or(m.Upstream, c.Upstream), ":11434") {
			all = append(all, finding{State: why.Warning, Says: small.Says, Fix: small.Fix})
		}
	}
	return all
}

// hintLines returns the hints of a configuration, a line each.
func hintLines(c *config.Config) (lines []string) {
	for _, h := range hints(c) {
		lines = append(lines, h.String())
	}
	return lines
}

// description returns what a valid configuration comes to, without its secrets.
func description(c *config.Config) string {
	text := "no file, every setting has its default\n\n"
	if c.File() != "" {
		text = c.File() + " is valid\n\n"
	}
	for _, hint := range hintLines(c) {
		text += "hint: " + hint + "\n\n"
	}
	return text + c.Shown() + "# sealing: " + sealWords(c) + "\n"
}

// modeWords returns which requests of a row go out unchanged, and what becomes of
// system messages where the file says that; "" if it says nothing.
func modeWords(m config.Model) string {
	var words []string
	switch m.Mode {
	case proxy.ModeOff:
		words = append(words, "mode off, sent as they came")
	case proxy.ModeShadow:
		words = append(words, "mode shadow, measured and sent as they came")
	}
	if m.MinBody > 0 && m.Mode != proxy.ModeOff {
		words = append(words, "bodies below "+m.MinBody.String()+" sent as they came")
	}
	if m.SystemMessages != "" {
		words = append(words, "system messages: "+m.SystemMessages)
	}
	return strings.Join(words, "; ")
}
