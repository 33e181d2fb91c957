package strict

import (
	"encoding/json"
	"net/http"
	"strings"
)

// otherRoutes is what exists beside chat completions, so that passing through can be tested.
var otherRoutes = []struct {
	method, path string
	serve        func(*Upstream, http.ResponseWriter, *http.Request, []byte)
}{
	{http.MethodGet, "/models", (*Upstream).serveModels},
	{http.MethodPost, "/embeddings", (*Upstream).serveEmbeddings},
}

// admitRoute refuses unknown paths, wrong methods and wrong keys, in this order, as OpenAI does.
func (u *Upstream) admitRoute(r *http.Request) *Refusal {
	method := ""
	if route(r) == "/chat/completions" {
		method = http.MethodPost
	}
	for _, o := range otherRoutes {
		if route(r) == o.path {
			method = o.method
		}
	}
	switch {
	case method == "":
		refusal := refuse(KindRoute, "", "", "Invalid URL (%s %s)", r.Method, r.URL.Path)
		refusal.Status = http.StatusNotFound
		return refusal
	case method != r.Method:
		refusal := refuse(KindRoute, "", "method_not_supported", "Only %s requests are accepted.", method)
		refusal.Status = http.StatusMethodNotAllowed
		return refusal
	}
	return u.admitKey(r)
}

func (u *Upstream) admitKey(r *http.Request) *Refusal {
	if u.o.Key == "" {
		return nil
	}
	key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if bearer && key == u.o.Key {
		return nil
	}
	refusal := refuse(KindKey, "", "invalid_api_key",
		"Incorrect API key provided: ********. You can find your API key at https://platform.openai.com/account/api-keys.")
	if !bearer {
		refusal.Code, refusal.Message = "", "You didn't provide an API key. You need to provide your API key in an Authorization "+
			"header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
	}
	refusal.Status = http.StatusUnauthorized
	return refusal
}

// serveOther answers a route that admitRoute let in.
func (u *Upstream) serveOther(w http.ResponseWriter, r *http.Request, body []byte) {
	for _, o := range otherRoutes {
		if route(r) == o.path {
			o.serve(u, w, r, body)
		}
	}
}

func (u *Upstream) serveModels(w http.ResponseWriter, _ *http.Request, _ []byte) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{}}
	for _, id := range u.o.Models {
		list.Data = append(list.Data, model{id, "model", 1715367049, "system"})
	}
	sendJSON(w, list)
}

// serveEmbeddings answers one small fixed vector for every input.
func (u *Upstream) serveEmbeddings(w http.ResponseWriter, _ *http.Request, body []byte) {
	var req struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	var many []json.RawMessage
	if json.Unmarshal(body, &req) != nil || len(req.Input) == 0 {
		missing("input").write(w)
		return
	}
	if json.Unmarshal(req.Input, &many) != nil {
		many = []json.RawMessage{req.Input}
	}
	type embedding struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	data := make([]embedding, len(many))
	for i := range many {
		data[i] = embedding{"embedding", i, []float64{0.0625, -0.125, 0.25, 0.5}}
	}
	tokens := perBytes(len(req.Input))
	sendJSON(w, map[string]any{
		"object": "list", "data": data, "model": req.Model,
		"usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}
