package proxy

import (
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// guessing counts words, or letters: nobody knows which the upstream does. runs is
// set once the upstream says that it runs a model whose letters count.
type guessing struct {
	compacttest.Words
	runs *bool
}

type letters struct{ compacttest.Words }

func (letters) Part(_ *compact.Message, p *compact.Part) int { return p.Text.Len() / 3 }

func (g guessing) Ways() iter.Seq2[string, compact.Counter] {
	return func(yield func(string, compact.Counter) bool) { _ = yield("words", g) && yield("letters", letters{}) }
}
func (guessing) Careful() int { return 123 }
func (g guessing) Serving(compact.Runs) compact.Counter {
	if g.runs != nil && *g.runs {
		return served{}
	}
	return nil
}

// served counts as a model of that name does.
type served struct{ letters }

func (s served) Ways() iter.Seq2[string, compact.Counter] {
	return func(yield func(string, compact.Counter) bool) { yield("served", s) }
}
func (served) Careful() int                         { return 100 }
func (served) Serving(compact.Runs) compact.Counter { return nil }

// Three answers show by which way the upstream counts, and the plan uses it.
func TestAnswersShowTheWay(t *testing.T) {
	u := answering(t, func(w http.ResponseWriter, body []byte) bool {
		_, _ = io.WriteString(w, strings.Replace(plainAnswer, `"prompt_tokens":11`, `"prompt_tokens":`+strconv.Itoa(len(body)/3), 1))
		return true
	})
	p := inFrontOf(t, u, calibrating, func(o *Options) { o.Default.Counter = guessing{} })
	for turn := 1; turn <= 6; turn++ {
		p.chat(strings.ReplaceAll(agentBody(10+3*turn, 100), "word", strings.Repeat("w", 4*turn)))
		p.replies(turn) // what it was billed is known then
	}
	r := p.replies(6)[5].Rewrite
	if r.Facts.Count.Value.Way != "letters" || r.Facts.Count.Value.Percent < 98 || r.Facts.Count.Value.Percent > 125 {
		t.Errorf("%+v", r.Facts)
	}
	if text := p.learnt.Describe(); !strings.Contains(text, "counts by letters") {
		t.Error(text)
	}
}
