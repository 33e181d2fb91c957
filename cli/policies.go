package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact/policy"
	"laconic/compact/stage"
)

// listedPolicy is one line of laconic policies --json.
type listedPolicy struct {
	Name      string `json:"name"`
	Summary   string `json:"summary"`
	KnownFrom string `json:"known_from,omitempty"`
	// Promises are the names of the promises it keeps, as README lists them.
	Promises []string `json:"promises"`
	// Options are what policies.NAME.options takes; adaptive has none.
	Options []stage.Option `json:"options"`
}

func policiesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "policies",
		Short: "list the named policies and the systems that they come from",
		Long: "Lists the policies that come with Laconic. adaptive is the default; the others are the\n" +
			"algorithms of systems that people know, made safe: no pair is parted, and instructions\n" +
			"stay. To compare them on your own conversations, use laconic replay. --json also lists\n" +
			"their options, with ranges, units and defaults.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), listedPolicies())
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, p := range listedPolicies() {
				from := "the default"
				if p.KnownFrom != "" {
					from = "known from " + p.KnownFrom
				}
				fmt.Fprintf(t, "%s\t%s\t%s\n", p.Name, p.Summary, from)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listedPolicies() []listedPolicy {
	var all []listedPolicy
	for _, p := range policy.Catalogue {
		all = append(all, listedPolicy{p.Name, p.Summary, p.KnownFrom, p.Claims, p.Options})
	}
	return all
}
