package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/cli/clients"
	"laconic/config"
)

func envCommand() *cobra.Command {
	var path, model string
	cmd := &cobra.Command{
		Use:   "env [CLIENT]",
		Short: "print the settings of a client, or list the clients",
		Long: "Prints the settings with which a client uses the proxy; for a client without a page, the variables\n" +
			"and fields that most of them have.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: clients.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				listClients(cmd.OutOrStdout())
				return nil
			}
			row := cmp.Or(clients.Named(args[0]), clients.OfCommand(args[0]))
			if strings.ContainsFunc(model, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
				return errors.New("--model is a name without quotes")
			}
			c, err := config.Load(path)
			if err != nil {
				return printConfig(cmd.ErrOrStderr(), c, err, false)
			}
			origin, shown := c.Scheme()+"://"+clientAddress(c.Listen), cmp.Or(model, firstNamed(c), clients.ShownModel)
			if row == nil {
				printAnyClient(cmd.OutOrStdout(), args[0], origin, shown)
			} else {
				printClient(cmd.OutOrStdout(), row, origin, shown)
			}
			return nil
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().StringVar(&model, "model", "", "`MODEL` to show (default: the first that the configuration names)")
	return cmd
}

func listClients(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprint(t, "client\ttested\tendpoint\twindow to believe in\n")
	for _, c := range clients.Table {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Name, c.Version, c.Endpoint, c.Window)
	}
	_ = t.Flush()
}

// printClient prints the settings of a client. All other words stand
// behind #, so that a shell can read what is for a shell.
func printClient(w io.Writer, c *clients.Client, origin, model string) {
	fmt.Fprintf(w, "# %s (%s), docs/clients/%s.md\n", c.Title, c.Version, c.Name)
	for _, b := range clients.Blocks(c.Name, origin, model) {
		fmt.Fprintf(w, "\n# %s:\n%s", b.Where, b.Text)
	}
	words := "There is nothing to set about the window."
	if c.Advice != "" {
		words = c.Advice + ": it compacts by itself near the window that it believes in, and here the proxy does that."
	}
	fmt.Fprintf(w, "\n# %s\n", strings.ReplaceAll(words, "`", ""))
}

// printAnyClient prints what most clients ask for. The name may be anything, so it is
// quoted and stays on its line.
func printAnyClient(w io.Writer, name, origin, model string) {
	if near := config.Nearest(name, clients.Names()); near != "" {
		fmt.Fprintf(w, "# Did you mean %s?\n", near)
	}
	fmt.Fprintf(w, `# %q was not tried yet. This is for every client of the OpenAI or the Anthropic API.

# shell:
export OPENAI_BASE_URL=%[2]s/v1
export OPENAI_API_BASE=%[2]s/v1
export ANTHROPIC_BASE_URL=%[2]s

# in its settings, as a provider called "OpenAI compatible":
#   base URL  %[2]s/v1
#   API key   the one of the upstream, or any word where the upstream wants none
#   model     %[3]s
# If it has a setting for the window of the model or for its own compaction, set the
# window far above the real one: the proxy compacts. Clients with a page: laconic env
`, name, origin, model)
}
