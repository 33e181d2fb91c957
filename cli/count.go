package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"laconic/counting"
	"laconic/tokenize"
)

func countCommand() *cobra.Command {
	var f policyFlags
	var tokenizer string
	var text, jsonOut bool
	cmd := &cobra.Command{
		Use:   "count [FILE]",
		Short: "count the tokens of a request, piece by piece, or of a text",
		Long: "Counts what the body of a chat completions request costs its model: instructions, tools,\n" +
			"each message, images and files, and the tokens around them. Texts are counted exactly for\n" +
			"OpenAI's models whose tokenizer is published; for others the count leans to the safe side.\n" +
			"Tools, calls, images, sounds and files are charged by formulas, and the output says so.\n" +
			"Without a file it reads standard input. With --text the input is a text, not a request.",
		Example: "  laconic count request.json\n" +
			"  laconic count --model claude-sonnet-4-5 request.json\n" +
			"  laconic count --text --tokenizer cl100k_base < prompt.txt",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, name, err := readInput(cmd, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if text {
				k, err := f.textCounter(cmd, tokenizer)
				switch {
				case err != nil:
					return err
				case jsonOut:
					return printJSON(cmd.OutOrStdout(), map[string]any{"tokenizer": k.Name(), "exact": k.Exact(), "tokens": k.TextBytes(body), "bytes": len(body)})
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), k.TextBytes(body))
				return err
			}
			r, err := decodeRequest(name, body)
			if err != nil {
				return err
			}
			route, budget, err := f.chosen(cmd, r.Model)
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
	cmd.Flags().BoolVar(&text, "text", false, "the input is plain text")
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print JSON")
	return cmd
}

// textCounter returns the counter for texts: by the tokenizer that the flag
// names, or the configuration, or that of the model; else o200k_base.
func (f *policyFlags) textCounter(cmd *cobra.Command, tokenizer string) (*tokenize.Counter, error) {
	c, err := f.load(cmd)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(tokenizer, c.RowOf(f.model).Tokenizer)
	if name == "" && f.model == "" {
		name = "o200k_base"
	}
	k := tokenize.For(f.model)
	if name == "" {
		return k, nil
	}
	return k.Named(name)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
