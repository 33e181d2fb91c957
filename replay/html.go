package replay

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Parse(reportPage))

// page is what the report shows.
type page struct {
	*Result
	Legend        []legendEntry
	Scatters      []figure
	Timelines     []figure
	Metrics       []string
	Files         []string // of the scatter plots, the total first
	Conversations []choice // of the timelines
	BudgetNames   []string
	Tables        []htmlTable
	Terms         [][2]string
	Titles        []string
	Data          template.JS // what each request cost, for the tooltip
}

type legendEntry struct{ Class, Name string }

// choice is an option of a list.
type choice struct {
	Name     string
	Selected bool
}

// figure is a picture with the choices under which it is shown.
type figure struct {
	Of                      int // index of its file, or of its conversation, in the list of choices
	Budget, Metric, Caption string
	Wide, Narrow            template.HTML
	Shown                   bool
	Key                     int
}

type htmlTable struct {
	Heading string
	Rows    []htmlRow
}

type htmlRow struct {
	Class string
	First bool // of its budget
	Cells []htmlCell
}

type htmlCell struct {
	Text string
	Left bool
	Best bool
}

// WriteHTML writes the result as one page that needs no network.
func (r *Result) WriteHTML(w io.Writer) error {
	p, names := page{Result: r}, r.names()
	for _, name := range r.Policies {
		p.Legend = append(p.Legend, legendEntry{class(r.Policies, name), name})
	}
	for _, b := range r.Budgets {
		p.BudgetNames = append(p.BudgetNames, b.String())
	}
	for _, m := range metrics {
		p.Metrics = append(p.Metrics, m.name)
	}
	blocks := r.blocks()
	if len(blocks) > 1 { // the total first: it is what one looks for
		blocks = append([]FileResult{r.Total}, r.Files...)
	}
	for i := range blocks {
		f := &blocks[i]
		p.Files = append(p.Files, names[f.File])
		for _, m := range metrics {
			for _, b := range p.BudgetNames {
				p.Scatters = append(p.Scatters, figure{
					Of: i, Budget: b, Metric: m.name, Caption: "budget " + b,
					Wide: template.HTML(scatter(f, b, m, r.Policies)), Shown: i == 0 && m.name == metrics[0].name,
				})
			}
		}
		p.Tables = append(p.Tables, r.htmlTable(f, names[f.File]))
	}
	if err := p.timelines(names); err != nil {
		return err
	}
	for _, c := range r.shown(blocks, 0) {
		p.Titles = append(p.Titles, c.title)
		if c.meaning != "" {
			p.Terms = append(p.Terms, [2]string{c.title, c.meaning})
		}
	}
	return reportTemplate.Execute(w, &p)
}

// timelines draws the series, grouped by conversation and budget.
func (p *page) timelines(names map[string]string) error {
	type line struct {
		Name  string `json:"name"`
		Class string `json:"class"`
		Sent  []int  `json:"sent"`
		Epoch []int  `json:"epoch"`
	}
	type data struct {
		Full  []int  `json:"full"`
		Lines []line `json:"lines"`
	}
	all := []data{}
	n := len(p.Policies)
	var before *Series
	longest := 0 // the figure with the most requests is shown first
	for at := 0; at+n <= len(p.Series); at += n {
		group := p.Series[at : at+n]
		first := &group[0]
		if before == nil || before.File != first.File || before.Conversation != first.Conversation {
			p.Conversations = append(p.Conversations, choice{Name: names[first.File] + ": " + first.Conversation})
		}
		before = first
		d := data{}
		for _, t := range first.Turns {
			d.Full = append(d.Full, t.Full)
		}
		for i := range group {
			l := line{Name: group[i].Policy, Class: class(p.Policies, group[i].Policy), Epoch: []int{}}
			for k, t := range group[i].Turns {
				l.Sent = append(l.Sent, t.Sent)
				if t.Epoch {
					l.Epoch = append(l.Epoch, k+1)
				}
			}
			d.Lines = append(d.Lines, l)
		}
		p.Timelines = append(p.Timelines, figure{
			Of: len(p.Conversations) - 1, Budget: first.Budget, Key: len(all),
			Wide:   template.HTML(overTurns(group, p.Policies, 1080, 380, fmt.Sprint("wide", len(all)))),
			Narrow: template.HTML(overTurns(group, p.Policies, 460, 360, fmt.Sprint("narrow", len(all)))),
		})
		all = append(all, d)
		if len(d.Full) > len(all[longest].Full) {
			longest = len(all) - 1
		}
	}
	if len(all) > 0 {
		p.Timelines[longest].Shown = true
		p.Conversations[p.Timelines[longest].Of].Selected = true
	}
	raw, err := json.Marshal(all)
	p.Data = template.JS(raw)
	return err
}

// htmlTable is the table of one file. The best of each budget is marked, among
// the policies that always fit: the others buy their numbers with requests
// that the upstream refuses.
func (r *Result) htmlTable(f *FileResult, name string) htmlTable {
	t := htmlTable{Heading: f.heading(name)}
	shown := r.shown(r.blocks(), 0)
	for i := range f.Rows {
		row := &f.Rows[i]
		h := htmlRow{Class: class(r.Policies, row.Policy), First: i%len(r.Policies) == 0}
		from := i - i%len(r.Policies)
		for _, c := range shown {
			h.Cells = append(h.Cells, htmlCell{
				Text: c.value(row), Left: c.left,
				Best: best(f.Rows[from:from+len(r.Policies)], row, c.title),
			})
		}
		t.Rows = append(t.Rows, h)
	}
	return t
}

// best tells whether no other policy of the group that always fits does better
// in a column.
func best(group []Row, row *Row, title string) bool {
	score := map[string]func(*Row) float64{
		"recall":    func(r *Row) float64 { return r.Recall() },
		"verbatim":  func(r *Row) float64 { return r.VerbatimRecall() },
		"recall*":   func(r *Row) float64 { return r.FitRecall() },
		"verbatim*": func(r *Row) float64 { return r.FitVerbatim() },
		"cost":      func(r *Row) float64 { return -r.Cost() },
	}[title]
	if score == nil || len(group) < 2 || row.FairFits < row.Fair {
		return false
	}
	for i := range group {
		if o := &group[i]; o.FairFits == o.Fair && score(o) > score(row) {
			return false
		}
	}
	return true
}
