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
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("env takes one client, not %d", len(args))
			}
			return nil
		},
		ValidArgs: clients.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				listClients(cmd.OutOrStdout())
				return nil
			}
			row := clients.Named(args[0])
			if row == nil {
				row = clients.OfCommand(args[0])
			}
			if row == nil {
				return fmt.Errorf("there is no client %q (%s)", args[0], config.DidYouMean(args[0], clients.Names()))
			}
			if strings.ContainsFunc(model, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
				return errors.New("--model is a name without quotes")
			}
			c, err := config.Load(path)
			if err != nil {
				printConfig(cmd.ErrOrStderr(), c, err, false)
				return exitError(1)
			}
			printClient(cmd.OutOrStdout(), row, c.Scheme()+"://"+clientAddress(c.Listen), cmp.Or(model, firstNamed(c), clients.ShownModel))
			return nil
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "", "configuration file (default: "+config.Usual+")")
	cmd.Flags().StringVar(&model, "model", "", "`MODEL` to show (default: the first that the configuration names)")
	return cmd
}

func listClients(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprint(t, "client\ttested\tendpoint\tcompacted\twindow to believe in\n")
	for i := range clients.Table {
		c := &clients.Table[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.Name, c.Version, c.Endpoint, compactedWords(c), windowToBelieve(c))
	}
	_ = t.Flush()
}

func compactedWords(c *clients.Client) string {
	if c.Compacted() {
		return "yes"
	}
	return "not yet"
}

func windowToBelieve(c *clients.Client) string {
	switch c.Window {
	case clients.Large:
		return "a large one"
	case clients.True:
		return "the model's own"
	}
	return "has no such setting"
}

// printClient prints the settings of a client. What is not a setting stands behind #,
// so that a shell can read what is for a shell.
func printClient(w io.Writer, c *clients.Client, origin, model string) {
	fmt.Fprintf(w, "# %s (%s), docs/clients/%s\n", c.Title, c.Version, c.Page)
	for _, b := range c.Blocks {
		fmt.Fprintf(w, "\n# %s:\n%s", b.Where, b.For(origin, model))
	}
	words := ""
	switch c.Window {
	case clients.Large:
		words = c.Advice + ": it compacts by itself near the window that it believes in, and here the proxy does that."
	case clients.True:
		words = c.Advice + ": it must not believe in a large one, because its requests pass through and nobody else compacts them."
	case clients.None:
		words = "There is nothing to set about the window."
	}
	fmt.Fprintf(w, "\n# %s\n", strings.ReplaceAll(words, "`", ""))
}
