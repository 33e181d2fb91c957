package cli

import "testing"

// TestReplayWronglyUsedBreaksNoPromise: exit code 1 of replay means that a
// promise was broken, so a wrong flag has another.
func TestReplayWronglyUsedBreaksNoPromise(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if code, out, said := run(t, append([]string{"replay"}, args...)...); code != 2 || said != "laconic: "+want+"\n" || out != "" {
			t.Errorf("%q: exit code %d, %s%s", args, code, said, out)
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
