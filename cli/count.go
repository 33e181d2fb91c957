package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"laconic/counting"
	"laconic/proxy/wire"
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
			r := &wire.Request{}
			if !text {
				if r, err = decodeRequest(name, body); err != nil {
					return err
				}
			}
			route, budget, err := f.chosen(cmd, r.Model)
			if err != nil {
				return err
			}
			k, model := route.Counter, cmp.Or(f.model, r.Model)
			if text && model == "" && route.Tokenizer == "" {
				tokenizer = cmp.Or(tokenizer, "o200k_base")
			}
			if tokenizer != "" {
				if k, err = counting.For(model, tokenizer); err != nil {
					return err
				}
			}
			if text {
				t := k.(*counting.Counter).Tokenizer()
				if jsonOut {
					return printJSON(cmd.OutOrStdout(), map[string]any{"tokenizer": t.Name(), "exact": t.Exact(), "tokens": t.TextBytes(body), "bytes": len(body)})
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), t.TextBytes(body))
				return err
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

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
