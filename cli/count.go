package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"laconic/counting"
	"laconic/proxy/wire"
	"laconic/tokenize"
)

// countFlags are the flags of laconic count.
type countFlags struct {
	policyFlags
	tokenizer         string
	text, lines, json bool
}

func countCommand() *cobra.Command {
	var f countFlags
	cmd := &cobra.Command{
		Use:   "count [FILE]...",
		Short: "count the tokens of chat requests, piece by piece, or of texts",
		Long: "Counts what the body of a chat completions request costs its model: instructions, tools,\n" +
			"each message, images and files, and the tokens around them. Texts are counted exactly for\n" +
			"OpenAI's models whose tokenizer is published; for others the count leans to the safe side.\n" +
			"Tools, calls, images, sounds and files are charged by formulas, and the output says so.\n" +
			"Without a file it reads standard input.\n\n" +
			"With --text the input is a text, not a request. With --jsonl each line is a request, or\n" +
			"with --text a JSON string, and each line gets one number.",
		Example: "  laconic count request.json\n" +
			"  laconic count --model claude-sonnet-4-5 request.json\n" +
			"  laconic count --text --tokenizer cl100k_base < prompt.txt\n" +
			"  laconic count --text --jsonl --tokenizer o200k_base < texts.jsonl",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.text && f.lines && f.json {
				return errors.New("--text --jsonl prints one number a line: leave --json out")
			}
			return f.run(cmd, args)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&f.tokenizer, "tokenizer", "", "tokenizer, instead of the model's own")
	cmd.Flags().BoolVar(&f.text, "text", false, "the input is plain text")
	cmd.Flags().BoolVar(&f.lines, "jsonl", false, "read one request a line, or with --text one JSON string; print one number a line")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// run counts each input, or each line of it.
func (f *countFlags) run(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	defer func() { _ = out.Flush() }()
	of := f.requestsTo(cmd, out, len(args) > 1)
	if f.text {
		k, err := f.textCounter(cmd)
		if err != nil {
			return err
		}
		of = f.textsTo(k, out, len(args) > 1)
	}
	for i, file := range args {
		body, name, err := readInput(cmd, file)
		if err != nil {
			return err
		}
		if i > 0 && !f.json && !f.lines && !f.text {
			fmt.Fprintln(out)
		}
		if !f.lines {
			if err := of(name, body, 0); err != nil {
				return err
			}
			continue
		}
		n := 0
		for line := range bytes.Lines(body) {
			n++
			if err := of(name, line, n); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// requestsTo returns what counts a request and prints the result.
func (f *countFlags) requestsTo(cmd *cobra.Command, out io.Writer, several bool) func(name string, body []byte, line int) error {
	return func(name string, body []byte, line int) error {
		c, err := f.request(cmd, name, body)
		switch {
		case err != nil:
			return hinted(err, name, line)
		case f.lines && f.json:
			return json.NewEncoder(out).Encode(c)
		case f.lines:
			_, err := fmt.Fprintln(out, c.Total)
			return err
		case f.json:
			c.File = fileOf(name, several)
			return printJSON(out, c)
		case several:
			fmt.Fprintf(out, "%s: ", name)
		}
		return c.print(out)
	}
}

// fileOf returns the name of a file where there are several, else "".
func fileOf(name string, several bool) string {
	if several {
		return name
	}
	return ""
}

// hinted adds the line to an error, or the flag that was probably forgotten.
func hinted(err error, name string, line int) error {
	says := err.Error()
	rest, placed := strings.CutPrefix(says, name+":1:")
	switch {
	case placed && line > 0:
		return fmt.Errorf("%s:%d:%s", name, line, rest)
	case strings.HasSuffix(says, wire.TrailingData.Sentence()):
		return fmt.Errorf("%w (one request a line? --jsonl)", err)
	case strings.HasSuffix(says, wire.NotObject.Sentence()) && line == 0:
		return fmt.Errorf("%w (a text? --text)", err)
	}
	return err
}

// request counts one request. Nothing at all costs nothing.
func (f *countFlags) request(cmd *cobra.Command, name string, body []byte) (*counted, error) {
	r := &wire.Request{}
	blank := len(bytes.TrimSpace(body)) == 0
	if !blank {
		var err error
		if r, err = decodeRequest(name, body); err != nil {
			return nil, err
		}
	}
	route, budget, err := f.chosen(cmd, r.Model)
	if err != nil {
		return nil, err
	}
	k := route.Counter
	model := cmp.Or(f.model, r.Model)
	if f.tokenizer != "" {
		if k, err = counting.For(model, f.tokenizer); err != nil {
			return nil, err
		}
	}
	c := countRequest(r, k.(*counting.Counter))
	if blank {
		c.Total, c.Framing, c.Exact, c.Messages = 0, 0, c.TextsExact, []countedPiece{}
	}
	c.Model, c.Budget = model, budget.Tokens
	return c, nil
}

// countedText is what a text costs.
type countedText struct {
	File      string `json:"file,omitempty"`
	Tokenizer string `json:"tokenizer"`
	Exact     bool   `json:"exact"`
	Tokens    int    `json:"tokens"`
	Bytes     int    `json:"bytes"`
}

// textsTo returns what counts a text, or the JSON string of a line, and prints the result.
func (f *countFlags) textsTo(k *tokenize.Counter, out io.Writer, several bool) func(name string, body []byte, line int) error {
	return func(name string, text []byte, line int) (err error) {
		if f.lines {
			if text, err = stringOf(text); err != nil {
				return fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
		c := countedText{Tokenizer: k.Name(), Exact: k.Exact(), Tokens: k.TextBytes(text), Bytes: len(text)}
		switch {
		case f.json:
			c.File = fileOf(name, several)
			return printJSON(out, c)
		case several && !f.lines:
			_, err = fmt.Fprintf(out, "%d\t%s\n", c.Tokens, name)
		default:
			_, err = fmt.Fprintln(out, c.Tokens)
		}
		return err
	}
}

// stringOf decodes a line that holds a JSON string, or nothing. Bytes that are
// not UTF-8 are refused: encoding/json would put other characters in their place
// than the tokenizer does.
func stringOf(line []byte) (text []byte, err error) {
	var s string
	line = bytes.TrimSpace(line)
	if len(line) > 0 && (line[0] != '"' || !utf8.Valid(line) || json.Unmarshal(line, &s) != nil) {
		return nil, errors.New("not a JSON string")
	}
	return []byte(s), nil
}

// textCounter returns the counter for texts: by the tokenizer that the flag
// names, or the configuration, or that of the model; else o200k_base.
func (f *countFlags) textCounter(cmd *cobra.Command) (*tokenize.Counter, error) {
	c, err := f.load(cmd)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(f.tokenizer, c.RowOf(f.model).Tokenizer)
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
