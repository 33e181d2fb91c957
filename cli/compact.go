package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"laconic/compact"
	"laconic/compact/handover"
	"laconic/config"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/why"
	"laconic/proxy/wire"
)

// policyFlags choose how the commands that need no upstream compact.
type policyFlags struct {
	config, model, policy string
	budget                int
}

func (f *policyFlags) flags(cmd *cobra.Command) {
	configFlag(cmd, &f.config)
	cmd.Flags().StringVar(&f.model, "model", "", "model, instead of the one that the request names")
	cmd.Flags().StringVar(&f.policy, "policy", "", "policy, instead of the one that the configuration has for the model")
	cmd.Flags().IntVar(&f.budget, "budget", 0, "tokens of prompt, instead of the model's own budget")
}

// chosen returns the route of a model with the flags applied.
func (f *policyFlags) chosen(cmd *cobra.Command, model string) (*proxy.Route, error) {
	c, err := config.Load(f.config)
	if err != nil {
		return nil, printConfig(cmd.ErrOrStderr(), c, err, false)
	}
	o := proxyOptions(c)
	route := *o.RouteFor(cmp.Or(f.model, model))
	if f.policy != "" {
		if route.Policy = o.Policies[f.policy]; route.Policy == nil {
			return nil, fmt.Errorf("there is no policy %s (%s)", strconv.Quote(f.policy), config.DidYouMean(f.policy, slices.Sorted(maps.Keys(c.Policies))))
		}
	}
	if f.budget < 0 {
		return nil, fmt.Errorf("--budget is a number of tokens above 0")
	}
	route.Limits.Budget = cmp.Or(f.budget, route.Limits.Budget)
	return &route, nil
}

// request reads the body of a request of any API from a file, or from standard input when
// no file, or "-", is named. It returns the request with the route of its model, to which
// the flags apply. The error says where the body breaks, as compilers do.
func (f *policyFlags) request(cmd *cobra.Command, args []string) (r *wire.Request, body []byte, route *proxy.Route, err error) {
	name := strings.Join(args, "")
	if name == "" || name == "-" {
		name = "standard input"
		body, err = io.ReadAll(cmd.InOrStdin())
	} else if body, err = os.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no such file", name)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	var pass *wire.PassError
	if r, err = cmp.Or(wire.Detect(body), wire.Chat).Decode(body); errors.As(err, &pass) {
		before := body[:min(max(int(pass.Offset), 0), len(body))]
		line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n') // in bytes, from 1
		err = fmt.Errorf("%s:%d:%d: not a chat request: %s", name, line, column, pass.Says())
	}
	if err == nil {
		route, err = f.chosen(cmd, r.Model)
	}
	return r, body, route, err
}

func compactCommand() *cobra.Command {
	var f policyFlags
	var explain bool
	cmd := &cobra.Command{
		Use:   "compact [FILE]",
		Short: "compact one request: standard input to standard output",
		Long: "Reads the body of a request of chat completions, responses or messages, and writes it as the\n" +
			"proxy would send it. A request that needs nothing comes out byte for byte. A body of another API,\n" +
			"which the proxy would pass unread, is an error here.",
		Example: "  laconic compact --budget 24000 < request.json > smaller.json\n  laconic compact --explain request.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, body, route, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			r.Conversation.Fixed = route.Counter.Fixed(r.Beside)
			agent := handover.Of(r.Conversation.Messages, r.NoCalls, r.Compaction)
			plan, report := agent.Compact(r.Conversation, route.Policy, route.Counter, route.Limits.For(0))
			if explain && agent != "" {
				fmt.Fprintln(cmd.OutOrStdout(), agent.Kind())
			}
			if explain {
				return explainPlan(cmd.OutOrStdout(), r, &plan, report)
			}
			if report.MessagesAfter > 0 { // else it says nothing, and goes out as it came
				body, err = r.Encode(plan.Apply(""))
				if err != nil {
					return err
				}
			}
			_, err = cmd.OutOrStdout().Write(body)
			return err
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false, "say what would be done, and why, instead of doing it")
	return cmd
}

// explainPlan prints a plan for a person.
func explainPlan(w io.Writer, r *wire.Request, plan *compact.Plan, report compact.Report) error {
	fmt.Fprintf(w, "%s: %d → %d tokens of %d (tools %d, instructions %d, task %d), %d → %d messages\n",
		report.Outcome, report.Before, report.After, report.Budget, report.Fixed, report.Parts.Instructions, report.Parts.Task, report.MessagesBefore, report.MessagesAfter)
	if report.Outcome == compact.Over {
		fmt.Fprintln(w, "why:", why.Over(&report, why.Command, 0))
	}
	if words := why.Repaired(&report); words.Says != "" {
		fmt.Fprintln(w, "why:", words)
	}
	if report.NotEnough {
		fmt.Fprintln(w, "not enough history: it is above the budget, and under this policy nothing in it may leave or be shortened")
	}
	if report.MessagesAfter == 0 {
		fmt.Fprintln(w, "empty: no message says anything, so it goes out as it came")
	}
	for i, e := range plan.Epochs {
		fmt.Fprintf(w, "epoch %d, after %s: %d → %d tokens\n", i+1, number.Count(e.At, "message"), e.Before, e.After)
	}
	if len(plan.Epochs) > 0 {
		fmt.Fprintln(w, "(epochs count the fixed tokens rounded up by an eighth at most, so that a change of the tools moves none)")
	}
	for _, s := range report.Stages {
		fmt.Fprintf(w, "%s: %s, %d tokens saved\n", s.Name, number.Count(s.Edits, "edit"), s.Saved)
	}
	if s := plan.Slot; s != nil {
		in := ""
		if n := len(s.Spans); n > 1 {
			in = fmt.Sprintf(" in %d spans", n)
		}
		fmt.Fprintf(w, "a slot of %d tokens%s replaces messages %d to %d\n", s.Size, in, s.From, s.To-1)
	}
	if len(plan.Edits) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nThe edits that can be seen in the request (not those of messages that left later):")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nmessage\trole\tstage\twhat\twhy\ttokens saved")
	for _, e := range plan.Edits {
		at := fmt.Sprint(e.Origin)
		if n := e.End - e.At; e.Op == compact.OpRemove && n > 1 {
			at = fmt.Sprintf("%d and %d more", e.Origin, n-1)
		}
		role := ""
		if e.Origin >= 0 && e.Origin < len(r.Conversation.Messages) {
			role = r.Conversation.Messages[e.Origin].RoleName()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\n", at, role, e.Stage, strings.ReplaceAll(string(e.Op), "_", " "), e.Why, e.Saved)
	}
	return t.Flush()
}
