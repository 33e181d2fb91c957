package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact"
	"laconic/counting"
	"laconic/number"
	"laconic/proxy/wire"
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
			r, _, route, err := f.request(cmd, args)
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
			c.Model, c.Budget = model, route.Limits.For(0).Tokens
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

// counted is what a request costs, piece by piece, in tokens. The roles, the
// tools, the format and the framing are the total.
type counted struct {
	Model      string         `json:"model"`
	Tokenizer  string         `json:"tokenizer"`
	Exact      bool           `json:"exact"`       // the total
	TextsExact bool           `json:"texts_exact"` // what is text of it
	Total      int            `json:"total"`
	Budget     int            `json:"budget"`
	Tools      int            `json:"tools"`
	Format     int            `json:"response_format"`
	Framing    int            `json:"framing"` // what opens the answer; that of a message is counted with it
	Roles      map[string]int `json:"roles"`
	Media      int            `json:"media"` // of it: images, audio, videos and files
	Messages   []countedPiece `json:"messages"`
}

type countedPiece struct {
	Index  int    `json:"index"`
	Role   string `json:"role"`
	Tokens int    `json:"tokens"`
	Calls  int    `json:"calls,omitempty"`
	Media  int    `json:"media,omitempty"` // of its tokens
}

func countRequest(r *wire.Request, k *counting.Counter) *counted {
	c := &counted{Tokenizer: k.Tokenizer().Name(), TextsExact: k.Exact(), Roles: map[string]int{}}
	c.Framing = k.Fixed(compact.Beside{})
	c.Tools = k.Fixed(compact.Beside{Tools: r.Tools, Functions: r.Functions}) - c.Framing
	c.Format = k.Fixed(compact.Beside{Format: r.Format}) - c.Framing
	c.Total = c.Framing + c.Tools + c.Format
	c.Exact = k.Tokenizer().FramingExact() && c.Tools+c.Format == 0 && !slices.ContainsFunc(r.Conversation.Messages, byFormula)
	for i := range r.Conversation.Messages {
		m := &r.Conversation.Messages[i]
		piece := countedPiece{Index: i, Role: m.RoleName(), Tokens: compact.Cost(k, m), Calls: len(m.Calls)}
		for p := range m.Parts {
			if m.Parts[p].Kind.Media() {
				piece.Media += k.Part(m, &m.Parts[p])
			}
		}
		c.Media += piece.Media
		c.Roles[piece.Role] += piece.Tokens
		c.Total += piece.Tokens
		c.Messages = append(c.Messages, piece)
	}
	return c
}

// byFormula reports whether there is more to a message than texts and framing.
func byFormula(m compact.Message) bool {
	return len(m.Calls) > 0 || m.Role.Result() || m.Sound || m.Seal != 0 || m.Reasoning.Len() > 0 ||
		slices.ContainsFunc(m.Parts, func(p compact.Part) bool { return p.Kind != compact.KindText && p.Kind != compact.KindRefusal })
}

func (c *counted) print(w io.Writer) error {
	exact := "an estimate"
	switch {
	case c.Exact:
		exact = "exact"
	case c.TextsExact:
		exact = "texts exact, the rest by formula"
	}
	fmt.Fprintf(w, "%d tokens of %d, counted by %s (%s)\n", c.Total, c.Budget, c.Tokenizer, exact)
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(what string, n int) {
		if n > 0 {
			fmt.Fprintf(t, "%d\t  %s\n", n, what)
		}
	}
	for _, role := range []string{"system", "developer", "user", "assistant", "tool", "function"} {
		line(role, c.Roles[role])
	}
	line("tools", c.Tools)
	line("response_format", c.Format)
	line("framing", c.Framing)
	if err := t.Flush(); err != nil {
		return err
	}
	if c.Media > 0 {
		fmt.Fprintf(w, "\nof these %d are images, audio, videos and files\n", c.Media)
	}
	fmt.Fprintf(w, "\n%s\n", number.Count(len(c.Messages), "message"))
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, m := range c.Messages {
		what := m.Role
		if m.Calls > 0 {
			what += ", " + number.Count(m.Calls, "call")
		}
		if m.Media > 0 {
			what += fmt.Sprintf(", media of %d", m.Media)
		}
		fmt.Fprintf(t, "%d\t%d\t  %s\n", m.Index, m.Tokens, what)
	}
	return t.Flush()
}
