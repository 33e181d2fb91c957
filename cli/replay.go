package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"laconic/cli/counting"
	"laconic/compact"
	"laconic/compact/policy"
	"laconic/replay"
)

func replayCommand() *cobra.Command {
	var policies, shares, tokenizer string
	var budgets []int
	prices := replay.DefaultPrices
	a := replay.Args{Prices: &prices}
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "measure policies on recorded conversations: what is kept, what it costs",
		Long: "Replays every request of recorded conversations (JSONL, HAR, or request bodies) through\n" +
			"policies and compares them: whether requests fit, whether pairs stay valid, how many of the\n" +
			"values that the next calls really used are still there, and what it costs with a prompt cache.\n\n" +
			"What cannot be read is named with its file and line, the first " + strconv.Itoa(replay.MostTold) + " on standard error, all in\n" +
			"--json and --html; the rest is replayed.\n\n" +
			"Exit code 1: a promise that a policy claims was broken. 2: something could not be read,\n" +
			"or the command was used in a wrong way.",
		Example: "  laconic replay runs/*.jsonl --policy adaptive,elide --budget-share 0.5,0.25\n" +
			"  laconic replay session.har --budget 32000 --html report.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return inputError{errors.New("name the files to replay")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Files, a.Budgets = args, budgets
			if policies != "" {
				a.Names = strings.Split(policies, ",")
			}
			if shares != "" {
				for _, s := range strings.Split(shares, ",") {
					v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
					if err != nil || v <= 0 || v > 1 {
						return inputf("--budget-share: %q is not a share above 0 and at most 1", s)
					}
					a.Shares = append(a.Shares, v)
				}
			}
			for _, b := range budgets {
				if b <= 0 {
					return inputf("--budget: %d is not a number of tokens above 0", b)
				}
			}
			known, err := replayable()
			if err != nil {
				return err
			}
			a.Known = known
			a.CounterFor = func(model string) compact.Counter {
				c, err := counting.For(model, tokenizer)
				if err != nil {
					return nil
				}
				return c
			}
			if tokenizer != "" {
				if _, err := counting.For("", tokenizer); err != nil {
					return inputError{err}
				}
			}
			if code := replay.Execute(cmd.Context(), a, cmd.OutOrStdout(), cmd.ErrOrStderr()); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return inputError{flagError(cmd, err)} })
	f := cmd.Flags()
	f.StringVar(&policies, "policy", "", "policies to compare, with commas between (default: all)")
	f.IntSliceVar(&budgets, "budget", nil, "budgets in tokens of prompt")
	f.StringVar(&shares, "budget-share", "", "budgets as shares of each conversation's peak (default 0.5,0.25)")
	f.StringVar(&tokenizer, "tokenizer", "", "count with this tokenizer instead of each model's own")
	f.IntVar(&a.MinPeak, "min-peak", 0, "leave out conversations whose largest request costs less than this, in tokens")
	f.Float64Var(&prices.Cached, "price-cached", prices.Cached, "price of a cached token, relative to an uncached one")
	f.Float64Var(&prices.Write, "price-write", prices.Write, "price of a token written to the cache")
	f.BoolVar(&a.JSON, "json", false, "print JSON")
	f.StringVar(&a.HTML, "html", "", "also write a page with plots to this file")
	return cmd
}

func inputf(format string, args ...any) error { return inputError{fmt.Errorf(format, args...)} }

// replayable are the named policies with what they claim.
func replayable() ([]replay.Policy, error) {
	var known []replay.Policy
	for _, n := range policy.Catalogue {
		p, err := n.New(nil)
		if err != nil {
			return nil, err
		}
		r := replay.Policy{Name: n.Name, Policy: p}
		for _, c := range n.Claims {
			r.Claims = append(r.Claims, strconv.Itoa(c))
		}
		known = append(known, r)
	}
	return known, nil
}
