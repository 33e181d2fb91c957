package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"laconic/tokenize"
)

// countedText is what a text costs.
type countedText struct {
	File      string `json:"file,omitempty"`
	Tokenizer string `json:"tokenizer"`
	Exact     bool   `json:"exact"`
	Tokens    int    `json:"tokens"`
	Bytes     int    `json:"bytes"`
}

// texts counts texts: whole inputs, or one JSON string a line.
func (f *countFlags) texts(cmd *cobra.Command, args []string) error {
	k, err := f.textCounter(cmd)
	if err != nil {
		return err
	}
	if f.lines && f.json {
		return errors.New("--text --jsonl prints one number a line: leave --json out")
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	err = f.each(cmd, args, func(name string, body []byte, alone bool) error {
		if f.lines {
			return countStrings(out, k, name, body)
		}
		c := countedText{Tokenizer: k.Name(), Exact: k.Exact(), Tokens: k.TextBytes(body), Bytes: len(body)}
		if !alone {
			c.File = name
		}
		switch {
		case f.json:
			return printJSON(out, c)
		case alone:
			_, err := fmt.Fprintln(out, c.Tokens)
			return err
		}
		_, err := fmt.Fprintf(out, "%d\t%s\n", c.Tokens, name)
		return err
	})
	return errors.Join(err, out.Flush())
}

// textCounter is the counter for texts: by the tokenizer that the flag names, or
// the configuration, or that of the model. Where nobody says anything it is
// o200k_base.
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

// countStrings counts one JSON string a line. Lines without anything cost 0.
func countStrings(out io.Writer, k *tokenize.Counter, name string, body []byte) error {
	n := 0
	for line := range bytes.Lines(body) {
		n++
		var text string
		if !blank(line) {
			if err := json.Unmarshal(line, &text); err != nil || !utf8.Valid(line) || line[firstOf(line)] == 'n' {
				column, says := notString(line, err)
				return fmt.Errorf("%s:%d:%d: not a JSON string: %s", name, n, column, says)
			}
		}
		if _, err := fmt.Fprintln(out, k.Text(text)); err != nil {
			return err
		}
	}
	return nil
}

// notString says where a line stops being a JSON string, and why.
func notString(line []byte, err error) (column int, says string) {
	if !utf8.Valid(line) { // json would take it, with other characters than the tokenizer
		return validLen(line) + 1, "it is not valid UTF-8"
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return max(1, int(syntax.Offset)), syntax.Error()
	}
	kind := "something else"
	at := firstOf(line)
	switch line[at] {
	case '{':
		kind = "an object"
	case '[':
		kind = "an array"
	case 't', 'f':
		kind = "true or false"
	case 'n':
		kind = "null"
	default:
		kind = "a number"
	}
	return at + 1, "it is " + kind
}

// validLen is how many bytes of a line are UTF-8 up to the first that is not.
func validLen(line []byte) int {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(line)
}

// firstOf is the index of the first byte of a line that is no blank.
func firstOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t\r\n")) }
