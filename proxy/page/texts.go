package page

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"laconic/proxy"
	"laconic/proxy/summarize/redact"
)

// texts are the bodies of a request, as they came and as they were sent. They are masked
// whenever somebody looks.
type texts struct {
	before, after []byte
	same          bool // what was sent is what came
}

// textsOf copies the bodies of a request.
func textsOf(i *proxy.PlanInfo) *texts {
	if same := len(i.SentBody) > 0 && len(i.Body) > 0 && &i.SentBody[0] == &i.Body[0]; same {
		return &texts{before: bytes.Clone(i.Body), same: true}
	}
	return &texts{before: bytes.Clone(i.Body), after: bytes.Clone(i.SentBody)}
}

func (t *texts) size() int {
	if t == nil {
		return 0
	}
	return 100 + len(t.before) + len(t.after)
}

// keep sets the texts of a request; nil drops them. When all texts are too many, the
// sender with the most of them loses its oldest: one that sends much pushes out nothing
// of others. Texts of more than half of the room are not kept. The caller holds mu.
func (p *Page) keep(r *request, t *texts) {
	if t.size() > p.o.Capture/2 {
		t = nil
	}
	name := nameOf(r.from)
	p.held[name] += t.size() - r.texts.size()
	r.texts = t
	if p.held[name] == 0 {
		delete(p.held, name)
	}
	total, most := 0, ""
	for sender, n := range p.held {
		if total += n; n > p.held[most] {
			most = sender
		}
	}
	if total <= p.o.Capture {
		return
	}
	for _, oldest := range p.requests {
		if oldest.texts != nil && nameOf(oldest.from) == most {
			p.keep(oldest, nil) // which goes on until there is room
			return
		}
	}
}

// Forget drops the texts of a client, by the name of its key, or of all with "": a name
// says whose they are, and a credential does not.
func (p *Page) Forget(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if client == "" || nameOf(r.from) == client {
			p.keep(r, nil)
		}
	}
}

// masked returns a body on one line, with a mark in place of what looks like a
// credential; nil for none, and where the masking fails.
func masked(body []byte) (text jsontext.Value) {
	defer func() {
		if recover() != nil {
			text = nil
		}
	}()
	if len(body) == 0 {
		return nil
	}
	raw, err := redact.JSON(body)
	text = jsontext.Value(raw)
	if err != nil || text.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)) != nil {
		return nil
	}
	return text
}

// serveTexts is the texts of a request; with .jsonl behind its id the request as
// laconic replay reads it.
func (p *Page) serveTexts(w http.ResponseWriter, r *http.Request) {
	id, download := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/page/api/texts/"), ".jsonl")
	t := &texts{}
	p.mu.Lock()
	if one := p.byID[id]; one != nil && one.texts != nil {
		t = one.texts
	}
	p.mu.Unlock()
	before, after := masked(t.before), masked(t.after)
	switch {
	case before == nil || after == nil && len(t.after) > 0:
		http.Error(w, "The texts of this request are not kept.", http.StatusNotFound)
	case download:
		w.Header().Set("Content-Type", "application/jsonl")
		w.Header().Set("Content-Disposition", `attachment; filename="`+id+`.jsonl"`)
		_, _ = w.Write(append(before, '\n'))
	default:
		serveJSON(w, struct {
			Before jsontext.Value `json:"before"`
			After  jsontext.Value `json:"after,omitempty"`
			Same   bool           `json:"same,omitempty"`
		}{before, after, t.same})
	}
}
