package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// known are the policies of a command line in tests.
func known() []Policy {
	return []Policy{
		rewriting("gone"),
		{Name: "adaptive", Policy: rewriting("gone: code_4711").Policy},
		{Name: "fickle", Policy: &compact.Policy{Ladder: []compact.Stage{&fickle{}}}, Claims: []string{"5"}},
	}
}

func executed(t *testing.T, a Args) (code int, stdout, stderr string) {
	t.Helper()
	if a.Known == nil {
		a.Known = known()
	}
	if a.Counter == nil {
		a.Counter = compacttest.Words{}
	}
	var out, errs bytes.Buffer
	code = Execute(context.Background(), a, &out, &errs)
	return code, out.String(), errs.String()
}

// TestExecuteSaysWhatIsWrong: one clear sentence each, and the exit code.
func TestExecuteSaysWhatIsWrong(t *testing.T) {
	good := write(t, "errand.jsonl", oneLine(errand))
	empty := write(t, "empty.jsonl", "")
	none := filepath.Join(t.TempDir(), "none.jsonl")
	f := func(a Args, code int, want string) {
		t.Helper()
		got, out, errs := executed(t, a)
		if got != code || errs != want {
			t.Errorf("exit %d, want %d\n%q\nwant\n%q", got, code, errs, want)
		}
		if code == ExitInput && out != "" {
			t.Errorf("wrote a table:\n%s", out)
		}
	}
	f(Args{}, ExitInput, "replay: name the files to replay\n")
	f(Args{Files: []string{none}}, ExitInput, "replay: "+none+": there is no such file\n")
	f(Args{Files: []string{empty}}, ExitInput, "replay: "+empty+": the file is empty: there is no conversation in it\n")
	f(Args{Files: []string{good}, Names: []string{"adaptiv"}}, ExitInput,
		"replay: there is no policy \"adaptiv\"; there are test, adaptive, fickle. Did you mean adaptive?\n")
	f(Args{Files: []string{good}, Names: []string{"layered"}}, ExitInput,
		"replay: there is no policy \"layered\"; there are test, adaptive, fickle.\n")
	f(Args{Files: []string{good}, Budgets: []int{-3}}, ExitInput, "replay: a budget is a number of tokens above 0, not -3\n")
	f(Args{Files: []string{good}, Shares: []float64{1.5}}, ExitInput, "replay: a budget share is above 0 and at most 1, not 1.5\n")
	f(Args{Files: []string{good}, MinPeak: 26}, ExitInput,
		"replay: nothing was measured: 1 conversation left out for a peak that is too small, or without a request\n")
	missing := filepath.Join(t.TempDir(), "no", "report.html")
	f(Args{Files: []string{good}, HTML: missing}, ExitInput, "replay: the report cannot be written to "+missing+": there is no such folder\n")
	linked := filepath.Join(t.TempDir(), "report.html")
	if err := os.Link(good, linked); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{good, linked} {
		f(Args{Files: []string{none, good}, HTML: page}, ExitInput, "replay: the report cannot be written to "+page+": it is one of the files to replay\n")
	}
	if raw, err := os.ReadFile(good); err != nil || string(raw) != oneLine(errand) {
		t.Errorf("the conversation is now %q, %v", raw, err)
	}
	f(Args{Files: []string{good}, Names: []string{"test"}}, ExitDone, "")
	f(Args{Files: []string{good}, Names: []string{"fickle"}, Budgets: []int{20}}, ExitBroken,
		"replay: fickle under 20 broke the promise \"stable\" 1 time, first in errand, request of 8 messages: only 3 of the 6 messages sent before start the request, and no epoch did\n")
}

// TestExecuteGoesOnBehindBrokenLines: each is named, the rest is replayed, and
// the exit code says so. A broken promise weighs more.
func TestExecuteGoesOnBehindBrokenLines(t *testing.T) {
	file := write(t, "a.jsonl", "{oops\n"+oneLine(errand)+"[]\n")
	code, out, errs := executed(t, Args{Files: []string{file}, Names: []string{"test"}, Budgets: []int{20}})
	want := "replay: " + file + ":1: this is not valid JSON\nreplay: " + file + ":3: this is JSON, but not an object with messages\n"
	if code != ExitInput || errs != want || !strings.Contains(out, "1 conversation, 4 requests") {
		t.Errorf("exit %d\n%s\n%s", code, errs, out)
	}
	if code, _, _ := executed(t, Args{Files: []string{file}, Names: []string{"fickle"}, Budgets: []int{20}}); code != ExitBroken {
		t.Errorf("exit %d for a broken promise and broken lines", code)
	}
}

// TestExecuteNamesManyBrokenLines: as many as somebody may read, then their
// number; JSON names all.
func TestExecuteNamesManyBrokenLines(t *testing.T) {
	file := write(t, "a.jsonl", oneLine(errand)+strings.Repeat("{oops\n", MostTold+2))
	code, out, errs := executed(t, Args{Files: []string{file}, Names: []string{" test"}, Budgets: []int{20}, JSON: true})
	if code != ExitInput || strings.Count(errs, ": this is not valid JSON\n") != MostTold || !strings.HasSuffix(errs, "\nreplay: and 2 more, which --json and --html name\n") {
		t.Errorf("exit %d: …%s", code, errs[max(0, len(errs)-200):])
	}
	if n := strings.Count(out, `"reason"`); n != MostTold+2 {
		t.Errorf("JSON names %d", n)
	}
}

// TestTable: what a person sees, on a wide terminal and on a narrow one.
func TestTable(t *testing.T) {
	file := write(t, "errand.jsonl", oneLine(errand))
	res, err := Run(context.Background(), Options{
		Files: []string{file}, Policies: known()[:2], Budgets: []Budget{{Tokens: 20}, {Share: 0.5}}, Counter: compacttest.Words{},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Times differ from run to run.
	for i := range res.Files[0].Rows {
		res.Files[0].Rows[i].times = times{}
	}
	var wide, narrow bytes.Buffer
	if err := res.WriteTable(&wide, 0); err != nil {
		t.Fatal(err)
	}
	const want = `errand.jsonl: 1 conversation, 4 requests
budget      policy    recall  verbatim   fits  fits all  pairs  recall*  verbatim*   cost  epochs  breaks  sent  cached   p50   p99
20          test         0 %       0 %  100 %     100 %  100 %      0 %        0 %  0.983       1       1    55  52.7 %  0 µs  0 µs
20          adaptive   100 %       0 %  100 %     100 %  100 %    100 %        0 %  1.020       1       1    57  52.6 %  0 µs  0 µs
0.5 × peak  test      50.0 %    50.0 %    0 %       0 %  100 %      0 %        0 %  0.983       1       1    55  52.7 %  0 µs  0 µs
0.5 × peak  adaptive   100 %    50.0 %    0 %       0 %  100 %      0 %        0 %  1.020       1       1    57  52.6 %  0 µs  0 µs

`
	if got, _, _ := strings.Cut(wide.String(), "budget    tokens that"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var room bytes.Buffer
	if err := res.WriteTable(&room, 200); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(room.String(), want) {
		t.Errorf("columns are missing where there is room:\n%s", room.String())
	}
	if err := res.WriteTable(&narrow, 72); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(narrow.String(), "\n") {
		if n := len([]rune(line)); n > 72 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	for _, must := range []string{"recall", "verbatim", "fits", "pairs", "cost"} {
		if !strings.Contains(narrow.String(), must) {
			t.Errorf("the narrow table lost %s:\n%s", must, narrow.String())
		}
	}
}

// TestJSON: programs get the counts and what follows from them.
func TestJSON(t *testing.T) {
	file := write(t, "errand.jsonl", oneLine(errand))
	code, out, errs := executed(t, Args{Files: []string{file}, Names: []string{"adaptive"}, Budgets: []int{20}, JSON: true})
	if code != ExitDone {
		t.Fatal(errs)
	}
	var got struct {
		Budgets []struct{ Tokens int }
		Total   struct {
			Rows []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := got.Total.Rows[0]
	for key, want := range map[string]any{
		"policy": "adaptive", "budget": "20", "requests": 4.0, "facts": 1.0, "recall": 1.0, "verbatim_recall": 0.0,
		"fair_fit": 1.0, "pairs_valid": 1.0, "tokens_sent": 57.0, "tokens_cached": 30.0, "prefix_breaks": 1.0,
	} {
		if row[key] != want {
			t.Errorf("%s is %v, want %v", key, row[key], want)
		}
	}
	if got.Budgets[0].Tokens != 20 {
		t.Errorf("budgets %v", got.Budgets)
	}
	// Nothing of a conversation but its name is in it.
	if strings.Contains(out, "code_4711") || strings.Contains(out, "secret") {
		t.Errorf("content in the result:\n%s", out)
	}
}

// TestReport: one page that asks nothing of the network and shows every
// policy.
func TestReport(t *testing.T) {
	file := write(t, `a<b>.jsonl`, oneLine(errand))
	page := filepath.Join(t.TempDir(), "report.html")
	if code, _, errs := executed(t, Args{Files: []string{file}, Names: []string{"test", "adaptive"}, HTML: page}); code != ExitDone {
		t.Fatal(errs)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	html := string(raw)
	for _, want := range []string{"<svg viewBox", "cost (1 = sending everything)", "request of the conversation", ">adaptive</text>", "errand", "prefers-color-scheme: dark"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if left := strings.ReplaceAll(html, "http://www.w3.org/2000/svg", ""); strings.Contains(left, "http:") || strings.Contains(left, "https:") || strings.Contains(left, " src=") {
		t.Error("the page names an address")
	}
	if strings.Contains(html, "a<b>") {
		t.Error("a file's name is not escaped")
	}
	if strings.Contains(html, "code_4711") {
		t.Error("content in the report")
	}
}

// TestReportStaysUntilThereIsANewOne: a replay that measured nothing leaves no
// empty file behind, and takes away no older report.
func TestReportStaysUntilThereIsANewOne(t *testing.T) {
	empty := write(t, "empty.jsonl", "")
	page := filepath.Join(t.TempDir(), "report.html")
	if code, _, _ := executed(t, Args{Files: []string{empty}, HTML: page}); code != ExitInput {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Stat(page); !os.IsNotExist(err) {
		t.Errorf("a file was left: %v", err)
	}
	older := strings.Repeat("older ", 100_000)
	if err := os.WriteFile(page, []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	executed(t, Args{Files: []string{empty}, HTML: page})
	if got, _ := os.ReadFile(page); string(got) != older {
		t.Error("the older report is gone")
	}
	if code, _, errs := executed(t, Args{Files: []string{write(t, "errand.jsonl", oneLine(errand))}, Names: []string{"test"}, HTML: page}); code != ExitDone {
		t.Error(errs)
	}
	if got, _ := os.ReadFile(page); !strings.HasSuffix(strings.TrimSpace(string(got)), "</html>") {
		t.Error("the new report is followed by the rest of the older one")
	}
}

// TestBestOfAGroup: marked among those that always fit.
func TestBestOfAGroup(t *testing.T) {
	row := func(recalled int, bill float64, fits int) Row {
		return Row{Numbers: Numbers{Facts: 10, Recalled: recalled, Verbatim: 10 - recalled, Bill: bill, Full: 10, Fair: 5, FairFits: fits}}
	}
	group := []Row{row(10, 2, 4), row(9, 8, 5), row(7, 6, 5)}
	f := func(title string, want ...bool) {
		t.Helper()
		for i := range group {
			if got := best(group, &group[i], title); got != want[i] {
				t.Errorf("%s of policy %d: %v", title, i, got)
			}
		}
	}
	f("recall", false, true, false)
	f("verbatim", false, false, true)
	f("cost", false, false, true)
	f("sent", false, false, false)
}
