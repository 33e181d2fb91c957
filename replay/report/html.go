// Package report writes the result of a replay as a table, and as a page.
//
// It promises:
//
//   - the same numbers in both: the page has the table.
//   - content in one place: texts are written of the conversation in Result.Shown
//     alone, and on the page alone. The others have names and sizes.
//   - escaped: nothing that was recorded becomes markup, and the page's policy
//     forbids everything but its own style and script.
//   - bounded: the page counts what it leaves out of a long conversation.
//   - offline: the page needs no network.
package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

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

// contentPolicy forbids the page everything but its own style and script: should a
// text of a conversation ever be taken for markup, it can load and run nothing.
const contentPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`

// hashOf returns the hash by which a content policy knows an inline text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is the data of the template.
type page struct {
	*replay.Result
	Table         string
	Comparison    *view.Comparison // before and after; nil: none
	ContentPolicy template.HTML
	Style         template.CSS
	Script        template.JS
}

// HTML writes a result as a page that needs no network.
func HTML(w io.Writer, r *replay.Result) error {
	var table strings.Builder
	_ = Table(&table, r) // a builder takes all
	style, script := view.Style(), view.Script(reportScript)
	policy := template.HTML(fmt.Sprintf(contentPolicy, hashOf(style), hashOf(script)))
	p := page{Result: r, Table: table.String(), ContentPolicy: policy, Style: template.CSS(style), Script: template.JS(script)}
	if r.Shown != nil {
		shown := *r.Shown
		shown.File = nameOf(r, shown.File)
		p.Comparison = &shown
	}
	return template.Must(template.New("report").Parse(reportPage)).Execute(w, &p)
}
