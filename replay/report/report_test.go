package report

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"laconic/replay"
	"laconic/replay/replaytest"
)

// replayed replays files through two policies.
func replayed(t *testing.T, o replay.Options) *replay.Result {
	t.Helper()
	o.Known = replaytest.Words
	o.Policies = []replay.Policy{
		{Name: "test", Policy: replaytest.Rewriting("gone")},
		{Name: "adaptive", Policy: replaytest.Rewriting("gone: code_4711")},
	}
	res, err := replay.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return &res
}

// TestTablesTellFilesApart: each block names its file, whatever files are called.
func TestTablesTellFilesApart(t *testing.T) {
	r := &replay.Result{Total: replay.FileResult{File: "all files"}}
	for _, file := range []string{"a/x.jsonl", "d1/y.jsonl", "d2/y.jsonl", "d/all files"} {
		r.Files = append(r.Files, replay.FileResult{File: file})
	}
	var got []string
	for _, f := range append(r.Files, r.Total) {
		got = append(got, nameOf(r, f.File))
	}
	if want := []string{"x.jsonl", "d1/y.jsonl", "d2/y.jsonl", "d/all files", "all files"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTable: what a person sees.
func TestTable(t *testing.T) {
	res := replayed(t, replay.Options{Files: []string{replaytest.Write(t, "errand.jsonl", replaytest.Errand)}, Budgets: []replay.Budget{{Tokens: 20}, {Share: 0.5}}})
	var b bytes.Buffer
	if err := Table(&b, res); err != nil {
		t.Fatal(err)
	}
	const want = `errand.jsonl: 1 conversation, 4 requests
budget      policy      recall    edits     fits     cost
20          test           0 %        –    100 %    0.983*
20          adaptive     100 %*       –    100 %    1.020
0.5 × peak  test        50.0 %        –      0 %    0.983*
0.5 × peak  adaptive     100 %*       –      0 %    1.020
Under 20 test is best in cost; adaptive in recall.
Under 0.5 × peak test is best in cost; adaptive in recall.

budget  tokens that a request may cost`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// paged returns a result as a page.
func paged(t *testing.T, res *replay.Result) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, res); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReport: one page that asks nothing of the network and shows every
// policy.
func TestReport(t *testing.T) {
	html := paged(t, replayed(t, replay.Options{
		Files: []string{replaytest.Write(t, `a<b>.jsonl`, replaytest.Errand)}, Budgets: []replay.Budget{{Share: 0.5}, {Share: 0.25}},
	}))
	for _, want := range []string{"adaptive ", "relative to sending everything", "Under 0.5 × peak test is best in cost; adaptive in recall.", "prefers-color-scheme: dark"} {
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

// TestTheBestIsMarked: the best of a column, unless all are alike or nothing was
// measured.
func TestTheBestIsMarked(t *testing.T) {
	of := func(policy string, recalled, shown, edits int, bill float64) replay.Row {
		return replay.Row{Policy: policy, Budget: "20", Numbers: replay.Numbers{
			Kept: replay.Kept{Facts: 10, Recalled: recalled, Edits: edits, EditsShown: shown}, Bill: bill, Full: 10, Over: 5,
		}}
	}
	f := func(want string, rows ...replay.Row) {
		t.Helper()
		var got []string
		for i := range rows {
			for _, c := range columns {
				if slices.Contains(c.best(rows), i) {
					got = append(got, rows[i].Policy+" "+c.title)
				}
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f("one recall, one edits, two edits, two cost", of("ours", 8, 7, 10, 5), of("one", 9, 9, 10, 5), of("two", 7, 9, 10, 4))
	f("one cost", of("ours", 8, 0, 0, 5), of("one", 8, 0, 0, 4))
	f("", of("ours", 8, 7, 10, 5))

	rows := []replay.Row{of("ours", 8, 7, 10, 5), of("one", 9, 9, 10, 5), of("two", 7, 9, 10, 4)}
	if got := won(rows, columns); got != "Under 20 one is best in recall, edits; two in cost." {
		t.Errorf("%q", got)
	}
	if got := won(rows[:1], columns); got != "" {
		t.Errorf("%q", got)
	}
	for i := range rows {
		rows[i].Over = 0
	}
	if got := won(rows, columns); got != "Under 20 no request is above its budget." {
		t.Errorf("%q", got)
	}
}
