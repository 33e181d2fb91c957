package report

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/replay"
	"laconic/replay/replaytest"
)

// replayed replays files through two policies.
func replayed(t *testing.T, o replay.Options) *replay.Result {
	t.Helper()
	o.Counter = compacttest.Words{}
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

budget  tokens that a request may cost`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestJSON: programs get the counts and what follows from them.
func TestJSON(t *testing.T) {
	res := replayed(t, replay.Options{Files: []string{replaytest.Write(t, "errand.jsonl", replaytest.Errand)}, Budgets: []replay.Budget{{Tokens: 20}}})
	var b bytes.Buffer
	if err := JSON(&b, res); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	var got struct {
		Budgets []struct{ Tokens int }
		Total   struct {
			Rows []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := got.Total.Rows[1]
	for key, want := range map[string]any{
		"policy": "adaptive", "budget": "20", "requests": 4.0, "facts": 1.0, "recall": 1.0, "verbatim_recall": 0.0,
		"fit": 1.0, "tokens_sent": 57.0, "tokens_cached": 30.0, "prefix_breaks": 1.0,
		"hard_recall": 1.0, "hard_verbatim_recall": 0.0, "calls_whole_share": 1.0, "edits_shown_share": nil, "p5_recall": 1.0,
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
	for _, want := range []string{">adaptive</td>", "relative to sending everything", "prefers-color-scheme: dark"} {
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

// TestModelBudgets: the models' own budgets are in the table and on the page,
// whatever a recording calls its model.
func TestModelBudgets(t *testing.T) {
	r := &replay.Result{Policies: []string{"test"}, Budgets: []replay.Budget{{Model: true}}}
	for i, name := range []string{"gpt-4o", "", "a\x1b[31m b", "<i>"} {
		r.Models = append(r.Models, replay.ModelBudget{Model: name, Tokens: 119808, Conversations: 1 + i})
	}
	const want = `gpt-4o 119,808 (1 conversation), without a model 119,808 (2 conversations), a\x1b[31m b 119,808 (3 conversations), <i> 119,808 (4 conversations)`
	if got := modelBudgets(r); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var table strings.Builder
	if err := Table(&table, r); err != nil || !strings.Contains(table.String(), "model's  "+want) {
		t.Errorf("%v\n%s", err, table.String())
	}
	if html := paged(t, r); !strings.Contains(html, "gpt-4o 119,808") || strings.Contains(html, "<i>") {
		t.Error("the page does not have them, or not escaped")
	}
	for len(r.Models) < 20 {
		r.Models = append(r.Models, r.Models[0])
	}
	if got := modelBudgets(r); !strings.HasSuffix(got, ", and 8 more") {
		t.Error(got)
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
		r := &replay.Result{Policies: make([]string, len(rows))}
		var got []string
		for _, line := range rowsOf(r, &replay.FileResult{Rows: rows}) {
			for n, c := range line.Cells {
				if c.Best {
					got = append(got, line.Cells[1].Text+" "+columns[n].title)
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
}
