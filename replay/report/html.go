package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"

	"laconic/replay"
)

// The page, its part about one conversation, its style and its script.
var (
	//go:embed report.html
	reportPage string
	//go:embed conversation.html
	conversationPart string
	//go:embed report.css
	style template.CSS
	//go:embed report.js
	script template.JS
)

var reportTemplate = template.Must(template.Must(template.New("report").Funcs(template.FuncMap{
	"thousands": replay.Thousands, "count": replay.Count, "notice": notice,
}).Parse(reportPage)).Parse(conversationPart))

// contentPolicy forbids the page everything but its own style and script: should a
// text of a conversation ever be taken for markup, it can load and run nothing.
var contentPolicy = template.HTML(fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">`,
	hashOf(string(style)), hashOf(string(script))))

// hashOf returns the hash by which a content policy knows an inline text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is the data of the template.
type page struct {
	*replay.Result
	Legend        []string // classes of the policies
	Scatters      []figure
	Timelines     []figure
	Metrics       []string
	Names         []string    // of the files in the scatter plots, the total first
	Conversations []string    // of the timelines
	First         int         // index of the conversation that is shown first
	Titles        [][2]string // of the columns, with their meanings
	Tables        []table
	Spread        [][]string // how the files differ, titles first
	Differ        string     // its heading
	Own           string     // the models' own budgets
	Conversation  *shown     // before and after; nil: none
	ContentPolicy template.HTML
	Style         template.CSS
	Script        template.JS
	Data          template.JS // the cost of each request, for the tooltip
}

// figure is a picture with the choices under which it is shown.
type figure struct {
	Of             int // index of its file, or of its conversation, in the list of choices
	Budget, Metric string
	Picture        template.HTML
	Shown          bool
}

type table struct {
	Heading string
	Rows    []row
}

type row struct {
	Class string
	First bool // of its budget
	Cells []cell
}

type cell struct {
	Text       string
	Left, Best bool
}

// HTML writes a result as a page that needs no network.
func HTML(w io.Writer, r *replay.Result) error {
	p, names := page{Result: r, Own: modelBudgets(r), Spread: spreadRows(r, 0), Differ: spreadHeading(r), ContentPolicy: contentPolicy, Style: style, Script: script}, names(r)
	p.Conversation = shownOf(r, names)
	for _, name := range r.Policies {
		p.Legend = append(p.Legend, class(r.Policies, name))
	}
	for _, m := range metrics {
		p.Metrics = append(p.Metrics, m.name)
	}
	for _, c := range columnsOf(r) {
		p.Titles = append(p.Titles, [2]string{c.title, c.meaning})
	}
	blocks := blocks(r)
	if n := len(blocks); n > 1 { // the total first
		blocks = slices.Concat(blocks[n-1:], blocks[:n-1])
	}
	for i := range blocks {
		f := &blocks[i]
		p.Names = append(p.Names, names[f.File])
		for _, m := range metrics {
			var whiskers []whisker
			if f.File == r.Total.File {
				whiskers = whiskersOf(r, m)
			}
			for _, b := range r.Budgets {
				p.Scatters = append(p.Scatters, figure{
					Of: i, Budget: b.String(), Metric: m.name, Shown: i == 0 && m.name == metrics[0].name,
					Picture: template.HTML(scatter(f, whiskers, b.String(), m, r.Policies)),
				})
			}
		}
		p.Tables = append(p.Tables, tableOf(r, f, names[f.File]))
	}
	if err := p.timelines(names); err != nil {
		return err
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
	type requests struct {
		Full  []int  `json:"full"`
		Lines []line `json:"lines"`
	}
	all := []requests{}
	longest := 0 // the figure with the most requests is shown first
	of := ""
	for group := range slices.Chunk(p.Series, len(p.Policies)) {
		first := &group[0]
		if key := first.File + "\x00" + first.Conversation; key != of {
			of = key
			p.Conversations = append(p.Conversations, names[first.File]+": "+notice(first.Conversation))
		}
		d := requests{}
		for _, t := range first.Turns {
			d.Full = append(d.Full, t.Full)
		}
		for _, s := range group {
			l := line{Name: s.Policy, Class: class(p.Policies, s.Policy), Epoch: []int{}}
			for k, t := range s.Turns {
				l.Sent = append(l.Sent, t.Sent)
				if t.Epoch {
					l.Epoch = append(l.Epoch, k+1)
				}
			}
			d.Lines = append(d.Lines, l)
		}
		p.Timelines = append(p.Timelines, figure{
			Of: len(p.Conversations) - 1, Budget: first.Budget,
			Picture: template.HTML(overTurns(group, p.Policies, fmt.Sprint("clip", len(all)))),
		})
		if all = append(all, d); len(d.Full) > len(all[longest].Full) {
			longest = len(all) - 1
		}
	}
	if len(all) > 0 {
		p.Timelines[longest].Shown = true
		p.First = p.Timelines[longest].Of
	}
	raw, err := json.Marshal(all)
	p.Data = template.JS(raw)
	return err
}

// tableOf returns the table of one file. The best of each budget is marked.
func tableOf(r *replay.Result, f *replay.FileResult, name string) table {
	t := table{Heading: heading(f, name)}
	for group := range slices.Chunk(f.Rows, len(r.Policies)) {
		for i := range group {
			h := row{Class: class(r.Policies, group[i].Policy), First: i == 0}
			for _, c := range columnsOf(r) {
				best := bestOf(group, &c)
				h.Cells = append(h.Cells, cell{c.value(&group[i]), c.left, len(best) < len(group) && slices.Contains(best, group[i].Policy)})
			}
			t.Rows = append(t.Rows, h)
		}
	}
	return t
}
