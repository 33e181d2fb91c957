package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"laconic/number"
	"laconic/replay"
	"laconic/replay/recording"
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

// replayRun is a replay, the flags that choose what is measured, and the destination of
// its result.
type replayRun struct {
	replay.Options
	config, policies, tokenizer string // as the flags have them, like what follows
	budgets                     []int
	shares                      []string

	json bool   // to stdout, instead of the table
	page string // the file of the page; "" for none
	// conversation is the ID of the one whose texts are on the page; "": the one
	// with the largest request.
	conversation string
}

func replayCommand() *cobra.Command {
	prices := replay.DefaultPrices
	r := replayRun{Options: replay.Options{Prices: &prices}}
	cmd := &cobra.Command{
		Use:   "replay FILE|FOLDER|-…",
		Short: "measure policies on recorded conversations: what is kept, what it costs",
		Long: "Replays every request of recorded conversations (JSONL, HAR, or request bodies; - is standard\n" +
			"input) through policies and compares them: whether requests fit, how many of the values that the next calls\n" +
			"really used are still there, and what it costs with a prompt cache.\n\n" +
			"With a configuration file its own policies are compared too, and each conversation has the\n" +
			"window, the tokenizer and, without --budget and --budget-share, the budget that serve would\n" +
			"choose for its model. No upstream is asked, and no model: what serve learns of a window is not\n" +
			"known here, a digest stands where a summary would be, and mode is not looked at.\n\n" +
			"What cannot be read is named with its file and line, the first " + strconv.Itoa(mostNamed) + " on standard error, all in\n" +
			"--json and --html; the rest is replayed.\n\n" +
			"Exit code 1: a policy broke a promise that it claims. 2: something could not be read, or\n" +
			"the command line or the configuration is wrong.",
		Annotations: map[string]string{inputFails: ""},
		Example: "  laconic replay runs/*.jsonl --policy adaptive,elide --budget-share 0.5,0.25\n" +
			"  laconic replay runs/*.jsonl --config laconic.yaml --model qwen3-32b\n" +
			"  laconic replay session.har --budget 32000 --html report.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("name the files to replay")
			case r.conversation != "" && r.page == "":
				return errors.New("--conversation is shown on a page: name its file with --html")
			}
			if err := r.choose(cmd); err != nil {
				return err
			}
			if r.page != "" {
				r.Show = &r.conversation
			}
			r.Stdin = cmd.InOrStdin()
			if err := r.recordings(args); err != nil {
				return err
			}
			if code := r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()); code != exitDone {
				return exitError(code)
			}
			return nil
		},
	}
	f := cmd.Flags()
	configFlag(cmd, &r.config)
	f.StringVar(&r.Model, "model", "", "model of all conversations, instead of the recorded ones")
	f.StringVar(&r.policies, "policy", "", "policies to compare, with commas between (default: all, those of the configuration first)")
	f.IntSliceVar(&r.budgets, "budget", nil, "budgets in tokens of prompt")
	f.StringSliceVar(&r.shares, "budget-share", nil, "budgets as shares of each conversation's peak\n(default: the budget of its model with a configuration file or --model, else 0.5,0.25)")
	f.StringVar(&r.tokenizer, "tokenizer", "", "count with this tokenizer instead of each model's own")
	f.Float64Var(&prices.Cached, "price-cached", prices.Cached, "price of a cached token, relative to an uncached one")
	f.Float64Var(&prices.Write, "price-write", prices.Write, "price of a token written to the cache")
	f.BoolVar(&r.json, "json", false, "print JSON")
	f.StringVar(&r.page, "html", "", "also write a page to this file, with one conversation before and after,\nrequest by request: it holds the texts of that conversation")
	f.StringVar(&r.conversation, "conversation", "", "`ID` of the conversation on the page (default: the one with the largest request)")
	return cmd
}

// run replays and returns the exit code. The result goes to stdout;
// what could not be read and broken promises go to stderr.
func (r *replayRun) run(ctx context.Context, stdout, stderr io.Writer) int {
	code := exitDone
	tell := func(what any) { fmt.Fprintln(stderr, "replay:", what) }
	fail := func(what any) {
		tell(what)
		code = exitInput
	}
	res, err := replay.Run(ctx, r.Options)
	switch {
	case errors.Is(err, context.Canceled):
		fail("stopped; the numbers hold what was replayed until then")
	case err != nil:
		fail(err)
		return code
	}
	if err := r.write(&res, stdout); err != nil {
		fail(err)
	}
	if r.Show != nil && res.Shown == nil && len(res.Files) > 0 && err == nil {
		fail(fmt.Sprintf("no conversation that was measured is called %q (without --conversation the page has the one with the largest request)", r.conversation))
	}
	for i, u := range res.Unread {
		if i == mostNamed {
			fail(fmt.Sprintf("and %d more, which --json and --html name", len(res.Unread)-i))
			break
		}
		fail(u)
	}
	if len(res.Files) == 0 && len(res.Unread) == 0 {
		fail(fmt.Sprintf("nothing was measured: %s left out for a peak that is too small, or without a request", number.Count(res.Left, "conversation")))
	}
	if len(res.Files) > 0 && !slices.ContainsFunc(res.Total.Rows, func(row replay.Row) bool { return row.Over > 0 }) {
		tell("no request is above its budget; --budget-share 0.5 would halve it for each conversation")
	}
	for _, f := range res.Failures {
		tell(f)
	}
	if len(res.Failures) > 0 {
		return exitBroken
	}
	return code
}

// write writes the result to its destinations. If nothing was measured, only JSON
// is written, and an older page stays.
func (r *replayRun) write(res *replay.Result, stdout io.Writer) error {
	if len(res.Files) > 0 && r.page != "" {
		var b bytes.Buffer
		err := report.HTML(&b, res)
		if err == nil {
			err = os.WriteFile(r.page, b.Bytes(), 0o600) // it may hold a conversation
		}
		if err != nil {
			return fmt.Errorf("the report cannot be written to %s: %s", r.page, recording.WhyNot(err))
		}
	}
	switch {
	case r.json:
		return printJSON(stdout, res)
	case len(res.Files) > 0:
		return report.Table(stdout, res)
	}
	return nil
}

// recordings sets the files that arguments name, which of a folder are those that may hold
// recordings.
func (r *replayRun) recordings(args []string) error {
	for i, arg := range args {
		if arg == "-" && slices.Contains(args[:i], arg) {
			return errors.New("- is standard input, which can be read once: name it once")
		}
		if info, err := os.Stat(arg); err != nil || !info.IsDir() || arg == "-" {
			r.Files = append(r.Files, arg)
			continue
		}
		found := len(r.Files)
		for _, kind := range []string{"*.jsonl", "*.ndjson", "*.json", "*.har"} {
			more, _ := filepath.Glob(filepath.Join(arg, kind)) // a folder that exists
			r.Files = append(r.Files, more...)
		}
		if len(r.Files) == found {
			return fmt.Errorf("%s: there is no .jsonl, .ndjson, .json or .har in this folder", arg)
		}
	}
	return nil
}
