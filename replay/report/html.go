package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"laconic/replay"
	"laconic/view"
)

// The page, and its script without those of the view.
var (
	//go:embed report.html
	reportPage string
	//go:embed report.js
	reportScript string
)

var (
	style          = view.Style()
	script         = view.Script(reportScript)
	reportTemplate = template.Must(template.New("report").Parse(reportPage))
)

// contentPolicy forbids the page everything but its own style and script: should a
// text of a conversation ever be taken for markup, it can load and run nothing.
var contentPolicy = template.HTML(fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`,
	hashOf(style), hashOf(script)))

// hashOf returns the hash by which a content policy knows an inline text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is the data of the template.
type page struct {
	*replay.Result
	Titles        [][2]string // of the columns, with their meanings
	Tables        []table
	Own           string             // the models' own budgets
	Conversation  *view.Conversation // before and after; nil: none
	ContentPolicy template.HTML
	Style         template.CSS
	Script        template.JS
}

type table struct {
	Heading string
	Rows    []row
}

// HTML writes a result as a page that needs no network.
func HTML(w io.Writer, r *replay.Result) error {
	p := page{Result: r, Own: modelBudgets(r), ContentPolicy: contentPolicy, Style: template.CSS(style), Script: template.JS(script)}
	if r.Shown != nil {
		shown := *r.Shown
		shown.File = nameOf(r, shown.File)
		p.Conversation = &shown
	}
	for _, c := range columnsOf(r) {
		p.Titles = append(p.Titles, [2]string{c.title, c.meaning})
	}
	for _, f := range blocks(r) {
		p.Tables = append(p.Tables, table{heading(&f, nameOf(r, f.File)), rowsOf(r, &f)})
	}
	return reportTemplate.Execute(w, &p)
}
