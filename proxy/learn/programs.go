package learn

import (
	"context"
	"net/http"

	"github.com/tidwall/gjson"
)

// Program is one that serves models, and the port that it has unless it is told
// another.
type Program struct {
	Name string
	Port int
}

// Programs are those that people run on their own machines.
var Programs = []Program{{"Ollama", 11434}, {llamaCpp, 8080}, {"vLLM", 8000}, {"LM Studio", 1234}, {"SGLang", 30000}}

// owners are the programs that name themselves in their list of models.
var owners = map[string]string{"vllm": "vLLM", "sglang": "SGLang", "llamacpp": llamaCpp}

const llamaCpp = "llama.cpp"

// Found is what answers at a base URL.
type Found struct {
	Program string // "": none that is known by a page of its own
	Models  []string
	Windows Windows // of the models that it publishes one for
	// Status is that of the list of models; 0: it did not answer.
	Status int
}

// Window returns the window that is published of a model; 0: none is.
func (f Found) Window(model string) int {
	p, _ := f.Windows.of(model)
	return p.Window
}

// Look asks an upstream what it is, and waits for the answer.
func (m *Memory) Look(ctx context.Context, u Upstream) (f Found) {
	auth := u.Header()
	list := &sources[0]
	body, status := m.get(ctx, list.at(u.URL), auth)
	f.Status, f.Windows = status, list.read(body)
	if status == 0 || status == http.StatusUnauthorized || status == http.StatusForbidden {
		return f
	}
	if page := gjson.ParseBytes(body); gjson.ValidBytes(body) {
		for _, id := range page.Get(list.rows + ".#.id").Array() {
			if id.Type == gjson.String && id.String() != "" {
				f.Models = append(f.Models, id.String())
			}
		}
		f.Program = owners[page.Get(list.rows+".0.owned_by").String()]
	}
	for i := range sources {
		s := &sources[i]
		if s.program == "" || Silent(u.URL) || f.Program != "" && (s.program != f.Program || len(f.Windows) > 0) {
			continue
		}
		body, _ := m.get(ctx, s.at(u.URL), auth)
		if body == nil || !gjson.ValidBytes(body) || !gjson.GetBytes(body, s.mark).Exists() {
			continue
		}
		f.Program = s.program
		if len(f.Windows) == 0 {
			f.Windows = s.read(body)
		}
	}
	return f
}
