package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact"
	"laconic/proxy/wire"
)

// readRequest reads a chat request from a file, or from standard input when no
// file, or "-", is named.
func readRequest(cmd *cobra.Command, args []string) (*wire.Request, error) {
	in, name := cmd.InOrStdin(), "standard input"
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in, name = f, args[0]
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	r, err := wire.Decode(body)
	if pass := (*wire.PassError)(nil); errors.As(err, &pass) {
		return nil, fmt.Errorf("%s is not a chat request: %w", name, pass)
	}
	return r, err
}

func compactCommand() *cobra.Command {
	var f policyFlags
	var explain bool
	cmd := &cobra.Command{
		Use:   "compact [FILE]",
		Short: "compact one chat request: standard input to standard output",
		Long: "Reads the body of a chat completions request and writes it as the proxy would send it.\n" +
			"What needs nothing comes out byte for byte. A body that is no chat request, which the\n" +
			"proxy would pass unread, is an error here.",
		Example: "  laconic compact --budget 24000 < request.json > smaller.json\n  laconic compact --explain request.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readRequest(cmd, args)
			if err != nil {
				return err
			}
			route, budget, err := f.chosen(cmd, r.Model, r.MaxTokens)
			if err != nil {
				return err
			}
			r.Conversation.Fixed = route.Counter.Fixed(r.Tools, r.Functions, r.ResponseFormat)
			plan, report := compact.Compact(r.Conversation, route.Policy, route.Counter, budget)
			if explain {
				return explainPlan(cmd.OutOrStdout(), r, &plan, report)
			}
			body, err := r.Encode(plan.Apply(r.Conversation, ""))
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(body)
			return err
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false, "tell what would be done, and why, instead of doing it")
	return cmd
}

// explainPlan prints a plan for a person.
func explainPlan(w io.Writer, r *wire.Request, plan *compact.Plan, report compact.Report) error {
	fmt.Fprintf(w, "%s: %d → %d tokens of %d (%d fixed), %d → %d messages\n",
		report.Outcome, report.Before, report.After, report.Budget, report.Fixed, report.MessagesBefore, report.MessagesAfter)
	for i, e := range plan.Epochs {
		fmt.Fprintf(w, "epoch %d, after %d messages: %d → %d tokens\n", i+1, e.At, e.Before, e.After)
	}
	for _, s := range report.Stages {
		fmt.Fprintf(w, "%s: %d times, %d tokens saved\n", s.Name, s.Edits, s.Saved)
	}
	if s := plan.Slot; s != nil {
		fmt.Fprintf(w, "a slot of %d tokens stands for messages %d to %d\n", s.Size, s.From, s.To-1)
	}
	if len(plan.Edits) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nWhat is left of it in the request (an edit of a message that left later is not listed):")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nmessage\trole\tstage\twhat\twhy\ttokens saved")
	for _, e := range plan.Edits {
		at := fmt.Sprint(e.Origin)
		if n := e.End - e.At; e.Op == compact.OpRemove && n > 1 {
			at = fmt.Sprintf("%d and %d more", e.Origin, n-1)
		}
		role := ""
		if e.Origin >= 0 && e.Origin < len(r.Conversation.Messages) {
			role = r.Conversation.Messages[e.Origin].Role.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\n", at, role, e.Stage, strings.ReplaceAll(string(e.Op), "_", " "), e.Why, e.Saved)
	}
	return t.Flush()
}

// counted is what a request costs, piece by piece, in tokens.
type counted struct {
	Model     string         `json:"model"`
	Tokenizer string         `json:"tokenizer"`
	Exact     bool           `json:"exact"`
	Total     int            `json:"total"`
	Budget    int            `json:"budget"`
	Tools     int            `json:"tools"`
	Format    int            `json:"response_format"`
	Framing   int            `json:"framing"`
	Roles     map[string]int `json:"roles"`
	Media     int            `json:"media"`
	Messages  []countedPiece `json:"messages"`
}

type countedPiece struct {
	Index  int    `json:"index"`
	Role   string `json:"role"`
	Tokens int    `json:"tokens"`
	Calls  int    `json:"calls,omitempty"`
}

func countCommand() *cobra.Command {
	var f policyFlags
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "count [FILE]",
		Short: "count the tokens of one chat request, piece by piece",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readRequest(cmd, args)
			if err != nil {
				return err
			}
			route, budget, err := f.chosen(cmd, r.Model, r.MaxTokens)
			if err != nil {
				return err
			}
			c := countRequest(r, route.Counter)
			c.Budget = budget.Tokens
			if f.model != "" {
				c.Model = f.model
			}
			if jsonOut {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(c)
			}
			return c.print(cmd.OutOrStdout())
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print JSON")
	return cmd
}

func countRequest(r *wire.Request, count compact.Counter) counted {
	c := counted{Model: r.Model, Exact: count.Exact(), Roles: map[string]int{}}
	if k, ok := count.(counting); ok {
		c.Tokenizer = k.model.Name()
	}
	c.Framing = count.Fixed(nil, nil, nil)
	c.Tools = count.Fixed(r.Tools, r.Functions, nil) - c.Framing
	c.Format = count.Fixed(nil, nil, r.ResponseFormat) - c.Framing
	c.Total = c.Framing + c.Tools + c.Format
	for i := range r.Conversation.Messages {
		m := &r.Conversation.Messages[i]
		n := compact.Cost(count, m)
		for p := range m.Parts {
			if k := m.Parts[p].Kind; k == compact.KindImage || k == compact.KindAudio || k == compact.KindFile {
				c.Media += count.Part(&m.Parts[p])
			}
		}
		c.Roles[m.Role.String()] += n
		c.Total += n
		c.Messages = append(c.Messages, countedPiece{Index: i, Role: m.Role.String(), Tokens: n, Calls: len(m.Calls)})
	}
	return c
}

func (c counted) print(w io.Writer) error {
	exact := "an estimate"
	if c.Exact {
		exact = "exact"
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(what string, n int) {
		if n > 0 {
			fmt.Fprintf(t, "%d\t  %s\t\n", n, what)
		}
	}
	fmt.Fprintf(w, "%d tokens of %d, counted by %s (%s)\n\n", c.Total, c.Budget, c.Tokenizer, exact)
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
		fmt.Fprintf(w, "\nof these %d are images, audio and files\n", c.Media)
	}
	fmt.Fprintf(w, "\n%d messages\n", len(c.Messages))
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, m := range c.Messages {
		calls := ""
		if m.Calls > 0 {
			calls = ", " + count(m.Calls, "call")
		}
		fmt.Fprintf(t, "%d\t%d\t  %s%s\t\n", m.Index, m.Tokens, m.Role, calls)
	}
	return t.Flush()
}
