// Package discover asks upstreams which windows their models have, and what they are.
//
// Nobody waits for an upstream's list of models: it is asked in the background, with
// the credential of a request. The one request that may wait for its window, 100 ms at
// most, is that behind the answer with which an upstream loaded a model. A published
// window is believed for as long as it is published, and an hour longer.
package discover

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/compact"
)

const (
	// askTime is how long all questions to an upstream together may take.
	askTime = 15 * time.Second
	// freshTime is how old an answer may be. Models are loaded and unloaded.
	freshTime = 10 * time.Minute
	// soonTime is how old that of a known program may be, which somebody may start anew. It is
	// also when an upstream is asked once more that published nothing of a model at
	// first, and how long it is not asked for one of which Again learnt nothing new.
	soonTime = time.Minute
	// reloadTime is the same where an answer contradicts the window of a model that is loaded:
	// its server may have started anew.
	reloadTime = time.Second
	// deniedPause is when an upstream is asked again that did not let a credential ask.
	deniedPause = 20 * time.Second
	// publishedLife is how long windows are believed that are not published any more.
	publishedLife = time.Hour
	// mostAgain bounds the models that Again has asked for.
	mostAgain = 256
	// answerWait is how long a request may wait for an answer that is due.
	answerWait = 100 * time.Millisecond
)

// Windows are what an upstream publishes, by the name of a model.
type Windows map[string]compact.Published

// add adds what is published of a model; the smallest of several limits counts.
func (w Windows) add(model string, t compact.Published) {
	last := w[model]
	t.Window, t.Input = compact.Lower(last.Window, t.Window), compact.Lower(last.Input, t.Input)
	r := last.Runs
	t.Runs = compact.Runs{Name: cmp.Or(t.Runs.Name, r.Name), Vocabulary: cmp.Or(t.Runs.Vocabulary, r.Vocabulary), Template: cmp.Or(t.Runs.Template, r.Template)}
	if t != (compact.Published{}) {
		w[model] = t
	}
}

// anyModel is the name of all models, where an upstream has one loaded and does
// not look at names.
const anyModel = "*"

// of returns what is published of a model, and reports whether a limit is. Ollama calls
// llama3 llama3:latest, and Llama3 too.
func (w Windows) of(model string) (p compact.Published, ok bool) {
	small := strings.ToLower(model)
	for _, name := range []string{model, model + ":latest", small, small + ":latest", anyModel} {
		if p, ok = w[name]; ok {
			break
		}
	}
	return p, p.Window > 0 || p.Input > 0
}

// Upstream is an upstream that may be asked for the windows of its models.
type Upstream struct {
	URL *url.URL
	// Account is the operator's key for it; "": none. With one, only the list of
	// models is asked for.
	Account string
	Header  http.Header // the credential that requests for pages carry
}

// upstream is what one upstream published about its models. Windows are facts of
// the upstream: what one credential was answered holds for all.
type upstream struct {
	published Windows              // the lists of two credentials may differ: those of some answers
	since     time.Time            // when the first of these came
	last      Found                // the newest answer that was no denial
	next      time.Time            // zero: it was not asked yet
	again     map[string]time.Time // when Again asked last for a model; none: it learnt something new
	answer    chan struct{}        // closed when the answer to a question is there; nil: none is asked
	waited    bool                 // the next request waits for it a little
	stale     bool                 // what is being asked: the model was loaded meanwhile
}

// Asker asks upstreams, and remembers what they publish. Make it with New. It is safe
// for concurrent use.
type Asker struct {
	transport http.RoundTripper
	via       string
	failed    func(v any)
	ctx       context.Context // of what runs in the background
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu        sync.Mutex              // of what is below, and of Close
	upstreams map[[2]string]*upstream // operators name them, so they are few
}

// New makes an Asker that knows nothing. Questions leave by a transport, with via as
// header. failed is called with the value of a panic in the background.
func New(t http.RoundTripper, via string, failed func(v any)) *Asker {
	a := &Asker{transport: t, via: via, failed: failed, upstreams: map[[2]string]*upstream{}}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

// Close ends what runs in the background and waits for it.
func (a *Asker) Close() {
	a.mu.Lock()
	a.stop()
	a.mu.Unlock()
	a.running.Wait()
}

// of returns what is known of an upstream. The lock is held.
func (a *Asker) of(u Upstream) *upstream {
	key := [2]string{u.URL.String(), u.Account}
	if a.upstreams[key] == nil {
		a.upstreams[key] = &upstream{}
	}
	return a.upstreams[key]
}

// Window returns what an upstream that is not [Silent] publishes of a model, as far
// as is known, and reports whether the upstream refuses what is too long. It may
// begin to ask the upstream, and waits a little for an answer only behind
// [Asker.Again].
func (a *Asker) Window(u Upstream, model string) (p compact.Published, refuses bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.of(u)
	if due := k.answer; due != nil && k.waited {
		a.mu.Unlock()
		select {
		case <-due:
		case <-time.After(answerWait):
		}
		if a.mu.Lock(); k.answer == due {
			k.waited = false // others do not wait, too
		}
	}
	if k.answer == nil && !time.Now().Before(k.next) {
		a.ask(k, u, model)
	}
	p, _ = k.published.of(model)
	return p, k.last.refuses
}

// Again is called with each answer of an upstream. It asks once more where the answer
// contradicts the published window, or where the upstream publishes windows of loaded
// models alone, and must have loaded this one by now. The next request waits a little for
// the answer. If the last question brought nothing new, Again asks for a model once a
// minute at most, and once a second where the window of a loaded model is contradicted. If
// the upstream has nothing to tell of a loaded model, Again returns the window that it has
// by default; 0: not known.
func (a *Asker) Again(u Upstream, model string, contradicted bool) (unset int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.of(u)
	now := time.Now()
	_, published := k.published.of(model)
	pause := soonTime
	if published && k.last.loads {
		pause = reloadTime
	}
	switch {
	case k.answer != nil && !published:
		k.stale, k.waited = true, true
	case k.answer != nil, published && !contradicted, !published && !k.last.loads:
	case now.Sub(k.again[model]) >= pause:
		if k.again == nil || len(k.again) == mostAgain {
			k.again = map[string]time.Time{}
		}
		k.again[model], k.waited = now, true
		a.ask(k, u, model)
	case !published:
		return k.last.unset
	}
	return 0
}

// Lost is called with each request that an upstream did not answer. The upstream is asked
// again with the next request.
func (a *Asker) Lost(u Upstream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.of(u); !k.next.IsZero() {
		k.next = time.Now()
	}
}

// Loads reports whether an upstream publishes windows of loaded models alone, and cuts
// what is too long, as far as it has answered.
func (a *Asker) Loads(u Upstream) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of(u).last.loads
}

// ask begins to ask an upstream, but not after Close. The lock is held.
func (a *Asker) ask(k *upstream, u Upstream, model string) {
	if a.ctx.Err() != nil {
		return
	}
	answer := make(chan struct{})
	k.answer = answer
	a.running.Go(func() {
		defer close(answer)
		ctx, stop := context.WithTimeout(a.ctx, askTime)
		defer stop()
		for kept := false; !kept; {
			f := a.look(ctx, u)
			a.mu.Lock()
			kept = k.keep(f, model, time.Now())
			a.mu.Unlock()
		}
	})
}

// look looks at an upstream. A panic costs the answer.
func (a *Asker) look(ctx context.Context, u Upstream) (f Found) {
	defer func() {
		if v := recover(); v != nil {
			a.failed(v)
		}
	}()
	return Look(ctx, a.transport, a.via, u)
}

// keep keeps an answer, and decides when the upstream is asked next. It returns false
// if that is at once, because the answer is stale.
func (k *upstream) keep(f Found, model string, now time.Time) bool {
	_, published := f.Windows.of(model)
	if k.stale && f.loads && !published {
		k.stale = false
		return false
	}
	k.answer, k.waited, k.stale = nil, false, false
	if k.published == nil || now.Sub(k.since) >= publishedLife {
		k.published, k.since = Windows{}, now
	}
	before, _ := k.published.of(model)
	for name, p := range f.Windows {
		if _, known := k.published[name]; !known || !f.failed {
			k.published[name] = p
		}
	}
	if news, _ := k.published.of(model); news != before {
		delete(k.again, model) // one that is loaded anew may have another window soon
	}
	pause := freshTime
	switch {
	case f.failed && !k.next.IsZero(): // it starts, or is busy: what it is holds
		f, pause = k.last, soonTime
	case f.denied:
		f, pause = k.last, deniedPause
	case !published && k.next.IsZero(), f.Program != "":
		pause = soonTime
	}
	k.last, k.next = f, now.Add(pause)
	return true
}

// silent are hosts that publish no windows, and domains of such hosts.
var silent = []string{
	"api.openai.com", "api.deepseek.com", "generativelanguage.googleapis.com", "api.anthropic.com",
	".openai.azure.com", ".amazonaws.com", ".azure.com",
}

// Silent reports whether an upstream is known to publish no windows: asking it
// would only cost it a request.
func Silent(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(silent, func(known string) bool {
		return host == known || known[0] == '.' && strings.HasSuffix(host, known)
	})
}
