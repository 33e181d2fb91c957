package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"laconic/cli/counting"
	"laconic/compact"
	"laconic/proxy/wire"
)

// countFlags say what laconic count reads and what it counts with.
type countFlags struct {
	policyFlags
	tokenizer, bench  string
	text, lines, json bool
}

func countCommand() *cobra.Command {
	var f countFlags
	cmd := &cobra.Command{
		Use:   "count [FILE]...",
		Short: "count the tokens of chat requests, piece by piece, or of texts",
		Long: "Counts what the body of a chat completions request costs its model: instructions, tools,\n" +
			"each message, images and files, and what stands around them. Texts are counted exactly for\n" +
			"OpenAI's models whose tokenizer is published; for others the count leans to the safe side.\n" +
			"Tools, calls, images, sounds and files are charged by formulas, and that is said.\n" +
			"Without a file it reads standard input.\n\n" +
			"With --text the input is no request but a text. With --jsonl each line is one: a request,\n" +
			"or with --text a JSON string; one number comes out per line.",
		Example: "  laconic count request.json\n" +
			"  laconic count --model claude-sonnet-4-5 request.json\n" +
			"  laconic count --text --tokenizer cl100k_base < prompt.txt\n" +
			"  laconic count --text --jsonl --tokenizer o200k_base < texts.jsonl\n" +
			"  laconic count --bench README.md",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("bench"):
				if f.bench == "" || len(args) > 0 || cmd.Flags().NFlag() > 1 {
					return errors.New("--bench takes one file, and no other flag")
				}
				return benchCounters(cmd.OutOrStdout(), f.bench)
			case f.text:
				return f.texts(cmd, args)
			}
			return f.requests(cmd, args)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&f.tokenizer, "tokenizer", "", "tokenizer, instead of the one that goes with the model")
	cmd.Flags().BoolVar(&f.text, "text", false, "the input is plain text")
	cmd.Flags().BoolVar(&f.lines, "jsonl", false, "one request a line, or with --text one JSON string; one number a line comes out")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.bench, "bench", "", "count this file with each kind of counter and print how fast that is")
	return cmd
}

// requests counts chat requests.
func (f *countFlags) requests(cmd *cobra.Command, args []string) error {
	return f.each(cmd, args, func(name string, body []byte, alone bool) error {
		if f.lines {
			return f.requestLines(cmd.OutOrStdout(), cmd, name, body)
		}
		c, err := f.request(cmd, name, body)
		if err != nil {
			return hinted(err, name)
		}
		if f.json {
			if !alone {
				c.File = name
			}
			return printJSON(cmd.OutOrStdout(), c)
		}
		if !alone {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ", name)
		}
		return c.print(cmd.OutOrStdout())
	})
}

// hinted adds the flag that was probably forgotten.
func hinted(err error, name string) error {
	says := err.Error()
	switch {
	case strings.HasSuffix(says, wire.TrailingData.Sentence()):
		return fmt.Errorf("%w (one request a line? --jsonl)", err)
	case strings.HasSuffix(says, wire.NotObject.Sentence()):
		return fmt.Errorf("%w (a text? --text)", err)
	}
	return err
}

// each reads the named files, or standard input.
func (f *countFlags) each(cmd *cobra.Command, args []string, count func(name string, body []byte, alone bool) error) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for i, file := range args {
		body, name, err := readInput(cmd, file)
		if err != nil {
			return err
		}
		if i > 0 && !f.json && !f.lines && !f.text {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := count(name, body, len(args) == 1); err != nil {
			return err
		}
	}
	return nil
}

// request counts one request. Nothing at all costs nothing.
func (f *countFlags) request(cmd *cobra.Command, name string, body []byte) (*counted, error) {
	if blank(body) {
		_, k, budget, err := f.counter(cmd, "", 0)
		if err != nil {
			return nil, err
		}
		return &counted{Model: f.model, Tokenizer: k.Tokenizer().Name(), Exact: k.Exact(), TextsExact: k.Exact(), Budget: budget.Tokens, Roles: map[string]int{}, Messages: []countedPiece{}}, nil
	}
	r, err := decodeRequest(name, body)
	if err != nil {
		return nil, err
	}
	model, k, budget, err := f.counter(cmd, r.Model, r.MaxTokens)
	if err != nil {
		return nil, err
	}
	c := countRequest(r, k)
	c.Model, c.Budget = model, budget.Tokens
	return c, nil
}

// counter is the counter of a model, with the flags applied, and its budget.
func (f *countFlags) counter(cmd *cobra.Command, model string, answer int) (string, *counting.Counter, compact.Budget, error) {
	route, budget, err := f.chosen(cmd, model, answer)
	if err != nil {
		return "", nil, budget, err
	}
	if f.model != "" {
		model = f.model
	}
	c := route.Counter
	if f.tokenizer != "" {
		if c, err = counting.For(model, f.tokenizer); err != nil {
			return "", nil, budget, err
		}
	}
	return model, c.(*counting.Counter), budget, nil
}

func printJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
