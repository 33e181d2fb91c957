package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact/policy"
)

func policiesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "policies",
		Short: "list the named policies and the systems that they come from",
		Long: "Lists the policies that come with Laconic. adaptive is the default; the others are the\n" +
			"algorithms of systems that people know, made safe: no pair is parted, and instructions\n" +
			"stay. To compare them on your own conversations, use laconic replay.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, p := range policy.Catalogue {
				from := "the default"
				if p.KnownFrom != "" {
					from = "known from " + p.KnownFrom
				}
				fmt.Fprintf(t, "%s\t%s\t%s\n", p.Name, p.Summary, from)
			}
			return t.Flush()
		},
	}
}
