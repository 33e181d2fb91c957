package cli

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"laconic/counting"
)

func countCommand() *cobra.Command {
	var f policyFlags
	var tokenizer string
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "count [FILE]",
		Short: "count the tokens of a request, piece by piece",
		Long: "Counts what the body of a request of any API costs its model: instructions, tools,\n" +
			"each message, images and files, and the tokens around them. Texts are counted exactly for\n" +
			"OpenAI's models whose tokenizer is published; for others the count leans to the safe side.\n" +
			"Tools, calls, images, sounds and files are charged by formulas, and the output says so.\n" +
			"Without a file it reads standard input.",
		Example: "  laconic count request.json\n" +
			"  laconic count --model claude-sonnet-4-5 request.json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, _, route, budget, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			k, model := route.Counter, cmp.Or(f.model, r.Model)
			if tokenizer != "" {
				if k, err = counting.For(model, tokenizer); err != nil {
					return err
				}
			}
			c := countRequest(r, k.(*counting.Counter))
			c.Model, c.Budget = model, budget.Tokens
			if jsonOut {
				return printJSON(cmd.OutOrStdout(), c)
			}
			return c.print(cmd.OutOrStdout())
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&tokenizer, "tokenizer", "", "tokenizer, instead of the model's own")
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print JSON")
	return cmd
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
