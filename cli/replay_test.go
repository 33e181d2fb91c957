package cli

import (
	"bytes"
	"context"
	"testing"
)

// TestReplayWronglyUsedBreaksNoPromise: exit code 1 of replay means that a
// promise was broken, so a wrong flag has another.
func TestReplayWronglyUsedBreaksNoPromise(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Run(context.Background(), append([]string{"replay"}, args...), nil, &out, &errs); code != 2 || errs.String() != "laconic: "+want+"\n" || out.Len() > 0 {
			t.Errorf("%q: exit code %d, %s%s", args, code, &errs, &out)
		}
	}
	f("name the files to replay")
	f("- is standard input, which can be read once: name it once", "-", "x.jsonl", "-")
	f(`--budget-share: "7" is not a share above 0 and at most 1`, "--budget-share", "7", "x.jsonl")
	f("--budget: 0 is not a number of tokens above 0", "--budget", "0", "x.jsonl")
	f(`there is no policy "adaptiv" (did you mean adaptive?)`, "--policy", "elide, adaptiv", "x.jsonl")
	f("--conversation is shown on a page: name its file with --html", "--conversation", "a", "x.jsonl")
	f("flag needs an argument: --config", "x.jsonl", "--config")
	f("unknown flag: --polcy", "--polcy", "elide", "x.jsonl")
}
