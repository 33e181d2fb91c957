package discover

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

const (
	// pageTime is how long one page may take.
	pageTime = 4 * time.Second
	// mostPage is how much of a page is read; OpenRouter's list has 432 KB.
	mostPage = 4 << 20
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
	From    string  // the name of the page that has them
	// Status is that of the list of models; 0: it did not answer, as Err says.
	Status int
	Err    error

	refuses bool // it refuses prompts that are too long, as far as is known
	loads   bool // it publishes windows of loaded models alone,
	unset   int  // and has this one unless it is told otherwise; 0: not known
	denied  bool // the pages are not for this credential
	failed  bool // a page did not answer, or with a fault of the server's: others say more
}

// Published returns what is published of a model.
func (f Found) Published(model string) compact.Published {
	p, _ := f.Windows.of(model)
	return p
}

// Look asks an upstream what it is and which windows its models have, and waits for
// the answer. It reads the pages where upstreams publish windows, in their order,
// until one has any. An upstream refuses what is too long if it publishes on another
// page than those that cut, or has none of their pages.
func Look(ctx context.Context, t http.RoundTripper, via string, u Upstream) (f Found) {
	mayCut := false
	f.Windows = Windows{}
	for _, s := range sources {
		if !s.list && (u.Account != "" || Silent(u.URL)) {
			return f
		}
		body, status, err := get(ctx, t, via, s.at(u.URL), u.Header)
		if s.list {
			f.Status, f.Err = status, err
		}
		f.failed = f.failed || err != nil || status/100 == 5
		if f.denied = status == http.StatusUnauthorized || status == http.StatusForbidden; f.denied || f.Err != nil {
			return f // it is not asked for under other names
		}
		marked := s.mark != "" && gjson.GetBytes(body, s.mark).Exists() // else it may answer any path
		if marked && f.Program == "" {
			f.Program = s.program
		}
		s.read(body, &f)
		_, one := f.Windows[anyModel]
		if len(f.Windows) > 0 && !(one && s.list && u.Account == "") { // else its own page says more
			f.From, f.refuses, f.loads, f.unset = s.name, !s.cuts, s.cuts, s.unset
			return f
		}
		if s.cuts && status/100 != 4 && (body == nil || gjson.ParseBytes(body).IsObject()) {
			mayCut = true // it has nothing loaded, or did not answer
			if marked {
				f.loads, f.unset = true, s.unset
			}
		}
	}
	f.refuses = !mayCut
	return f
}

// get returns a page of an upstream, nil unless it is there and is JSON, and its
// status. Redirects are not followed: the credential goes where the operator pointed it.
func get(ctx context.Context, t http.RoundTripper, via string, at *url.URL, auth http.Header) (body []byte, status int, err error) {
	ctx, stop := context.WithTimeout(ctx, pageTime)
	defer stop()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil) // of a URL that was parsed
	r.Header = auth.Clone()
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "laconic")
	r.Header.Set("Via", "1.1 "+via) // it may come back to us
	res, err := t.RoundTrip(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, res.StatusCode, nil
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, mostPage+1))
	switch {
	case err != nil:
		return nil, 0, err
	case len(body) > mostPage:
		return nil, 0, errors.New("the page is too long")
	case !json.Valid(body):
		body = []byte("null")
	}
	return body, http.StatusOK, nil
}
