package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"laconic/cli/counting"
	"laconic/compact"
	"laconic/compact/policy"
	"laconic/config"
	"laconic/replay"
	"laconic/replay/record"
	"laconic/replay/report"
)

// The exit codes of replay.
const (
	exitDone   = 0 // everything was replayed, every claimed promise was kept
	exitBroken = 1 // a policy broke a promise that it claims; hides exitInput
	exitInput  = 2 // something could not be read or understood; the rest was replayed
)

// mostNamed is how many unread lines are named on stderr; the rest is counted.
// JSON and the page name all.
const mostNamed = 1000

// replayRun is a replay and the destination of its result.
type replayRun struct {
	replay.Options
	json bool   // to stdout, instead of the table
	page string // the file of the page; "" for none
}

func replayCommand() *cobra.Command {
	var policies, tokenizer string
	var shares []string
	var budgets []int
	prices := replay.DefaultPrices
	r := replayRun{Options: replay.Options{Prices: &prices}}
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "measure policies on recorded conversations: what is kept, what it costs",
		Long: "Replays every request of recorded conversations (JSONL, HAR, or request bodies) through\n" +
			"policies and compares them: whether requests fit, whether pairs stay valid, how many of the\n" +
			"values that the next calls really used are still there, and what it costs with a prompt cache.\n\n" +
			"What cannot be read is named with its file and line, the first " + strconv.Itoa(mostNamed) + " on standard error, all in\n" +
			"--json and --html; the rest is replayed.\n\n" +
			"Exit code 1: a policy broke a promise that it claims. 2: something could not be read, or\n" +
			"the command line is wrong.",
		Example: "  laconic replay runs/*.jsonl --policy adaptive,elide --budget-share 0.5,0.25\n" +
			"  laconic replay session.har --budget 32000 --html report.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return inputError{errors.New("name the files to replay")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if r.Policies, err = replayed(policies); err != nil {
				return inputError{err}
			}
			for _, n := range budgets {
				if n <= 0 {
					return inputf("--budget: %d is not a number of tokens above 0", n)
				}
				r.Budgets = append(r.Budgets, replay.Budget{Tokens: n})
			}
			if shares == nil && budgets == nil {
				shares = []string{"0.5", "0.25"}
			}
			for _, s := range shares {
				share, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
				if err != nil || !(share > 0 && share <= 1) {
					return inputf("--budget-share: %q is not a share above 0 and at most 1", s)
				}
				r.Budgets = append(r.Budgets, replay.Budget{Share: share})
			}
			if _, err := counting.For("", tokenizer); err != nil {
				return inputError{err}
			}
			r.CounterFor = func(model string) compact.Counter {
				c, err := counting.For(model, tokenizer)
				if err != nil {
					return nil
				}
				return c
			}
			r.Files = args
			if code := r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()); code != exitDone {
				return exitError(code)
			}
			return nil
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return inputError{flagError(cmd, err)} })
	f := cmd.Flags()
	f.StringVar(&policies, "policy", "", "policies to compare, with commas between (default: all)")
	f.IntSliceVar(&budgets, "budget", nil, "budgets in tokens of prompt")
	f.StringSliceVar(&shares, "budget-share", nil, "budgets as shares of each conversation's peak (default 0.5,0.25)")
	f.StringVar(&tokenizer, "tokenizer", "", "count with this tokenizer instead of each model's own")
	f.IntVar(&r.MinPeak, "min-peak", 0, "leave out conversations whose largest request costs less than this, in tokens")
	f.Float64Var(&prices.Cached, "price-cached", prices.Cached, "price of a cached token, relative to an uncached one")
	f.Float64Var(&prices.Write, "price-write", prices.Write, "price of a token written to the cache")
	f.BoolVar(&r.json, "json", false, "print JSON")
	f.StringVar(&r.page, "html", "", "also write a page with plots to this file")
	return cmd
}

func inputf(format string, args ...any) error { return inputError{fmt.Errorf(format, args...)} }

// replayed returns the policies of these names, with commas between, and what
// they claim; all of them if there is no name.
func replayed(names string) ([]replay.Policy, error) {
	var known []string
	all := map[string]replay.Policy{}
	for _, n := range policy.Catalogue {
		p, err := n.New(nil)
		if err != nil {
			return nil, err
		}
		known = append(known, n.Name)
		all[n.Name] = replay.Policy{Name: n.Name, Policy: p, Claims: n.Claims}
	}
	chosen := known
	if names != "" {
		chosen = strings.Split(names, ",")
	}
	var policies []replay.Policy
	for i, name := range chosen {
		chosen[i] = strings.TrimSpace(name)
		p, ok := all[chosen[i]]
		if !ok {
			return nil, fmt.Errorf("there is no policy %q (%s)", chosen[i], config.DidYouMean(chosen[i], known))
		}
		if !slices.Contains(chosen[:i], p.Name) {
			policies = append(policies, p)
		}
	}
	return policies, nil
}

// run replays and returns the exit code. The result goes to stdout; the
// progress, what could not be read and broken promises go to stderr.
func (r *replayRun) run(ctx context.Context, stdout, stderr io.Writer) int {
	// Opened before the work, so that nobody waits for a page that cannot be written.
	page, err := r.openPage()
	if err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		return exitInput
	}
	progress := progressOn(stderr)
	r.Progress, r.Series = progress.draw, page != nil
	res, err := replay.Run(ctx, r.Options)
	progress.clear()
	code := exitDone
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "replay: stopped; the numbers hold what was replayed until then")
		code = exitInput
	case err != nil:
		closePage(page)
		fmt.Fprintln(stderr, "replay:", err)
		return exitInput
	}
	if err := r.write(&res, stdout, page); err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		code = exitInput
	}
	if told := tellReplay(&res, stderr); told != exitDone {
		code = told
	}
	return code
}

// write writes the result to its destinations. If nothing was measured, only JSON
// is written.
func (r *replayRun) write(res *replay.Result, stdout io.Writer, page *os.File) error {
	if len(res.Files) > 0 && page != nil {
		if err := writePage(page, res); err != nil {
			return fmt.Errorf("the report cannot be written to %s: %s", r.page, record.WhyNot(err))
		}
	} else {
		closePage(page)
	}
	switch {
	case r.json:
		return report.JSON(stdout, res)
	case len(res.Files) > 0:
		return report.Table(stdout, res, widthOf(stdout))
	}
	return nil
}

// openPage opens the file of the page, or returns nil if no page is wanted. An
// older page is kept until the new one is written.
func (r *replayRun) openPage() (*os.File, error) {
	if r.page == "" {
		return nil, nil
	}
	if old, err := os.Stat(r.page); err == nil {
		for _, in := range r.Files {
			if s, err := os.Stat(in); err == nil && os.SameFile(old, s) {
				return nil, fmt.Errorf("the report cannot be written to %s: it is one of the files to replay", r.page)
			}
		}
	}
	f, err := os.OpenFile(r.page, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		why := record.WhyNot(err)
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is no such folder"
		}
		return nil, fmt.Errorf("the report cannot be written to %s: %s", r.page, why)
	}
	return f, nil
}

func writePage(f *os.File, res *replay.Result) error {
	var err error
	if s, failed := f.Stat(); failed == nil && s.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err == nil {
		err = report.HTML(f, res)
	}
	return errors.Join(err, f.Close())
}

// closePage closes a file without a new page, and removes the file if it is empty.
func closePage(f *os.File) {
	if f == nil {
		return
	}
	s, err := f.Stat()
	_ = f.Close() // nothing was written
	if err == nil && s.Mode().IsRegular() && s.Size() == 0 {
		_ = os.Remove(f.Name())
	}
}

// tellReplay writes what could not be read and what was broken, and returns the
// exit code for it.
func tellReplay(res *replay.Result, stderr io.Writer) int {
	code := exitDone
	for i, u := range res.Unread {
		code = exitInput
		if i == mostNamed {
			fmt.Fprintf(stderr, "replay: and %d more, which --json and --html name\n", len(res.Unread)-i)
			break
		}
		fmt.Fprintln(stderr, "replay:", u)
	}
	if len(res.Files) == 0 && len(res.Unread) == 0 {
		fmt.Fprintf(stderr, "replay: nothing was measured: %s left out for a peak that is too small, or without a request\n", replay.Count(res.Left, "conversation"))
		code = exitInput
	}
	for _, f := range res.Failures {
		fmt.Fprintln(stderr, "replay:", f)
	}
	if res.Failed() {
		code = exitBroken
	}
	return code
}
