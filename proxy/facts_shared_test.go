package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"laconic/proxy/learn"
	"laconic/proxy/wire"
)

// modelOf returns what p holds of a request's model.
func (p *running) modelOf(model string) *learn.Model {
	return p.learnt.Model(p.factKey(http.Header{}, &p.settings.Load().Default, wire.Chat.Name(), model), p.settings.Load().Default.Upstream, model, learn.Key{})
}

func (p *running) factsOf(model string) learn.Facts { return p.modelOf(model).Facts() }

// Azure names the model by the path, and does not look at what the body says.
func TestFactsBelongToADeployment(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if n := wordsIn(body); n > 2000 && strings.Contains(r.URL.Path, "small") {
			says(w, n, 2000)
			return
		}
		_, _ = io.WriteString(w, plainAnswer)
	})
	withModel := agentBody(30, 100)
	for _, body := range []string{withModel, strings.Replace(withModel, `"model":"gpt-4o",`, "", 1)} {
		for _, below := range []string{"/openai/deployments/", "/v1/deployments/", "/deployments/"} {
			p := inFrontOf(t, u, windowed(100_000))
			send := func(name, outcome string) {
				t.Helper()
				if res := p.do("POST", below+name+"/chat/completions?api-version=1", strings.NewReader(body)); res.StatusCode != 200 || res.Header.Get("X-Laconic-Outcome") != outcome {
					t.Errorf("%s%s: %d %s, want %s", below, name, res.StatusCode, res.Header.Get("X-Laconic-Outcome"), outcome)
				}
			}
			send("small-a", "retried")
			send("small-a", "compacted")
			send("large", "untouched")
			send("small-b", "retried")
			send("small-a", "compacted")
			r, page := p.replies(1)[0], p.learnt.Describe()
			if !strings.HasPrefix(r.Rewrite.Model, "small-a") || r.Endpoint != "/chat/completions" || !strings.Contains(page, `"small-a`) || !strings.Contains(page, `"small-b`) {
				t.Errorf("%s: %q %q\n%s", below, r.Rewrite.Model, r.Endpoint, page)
			}
		}
	}
}
