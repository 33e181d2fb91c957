package learn

import (
	"context"
	"maps"
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
	// soonTime is when an upstream is asked once more that published nothing of a model at
	// first, and how long it is left alone where Again learnt nothing new.
	soonTime = time.Minute
	// reloadTime is the same where an answer contradicts the window of a model that is loaded:
	// its server may have started anew.
	reloadTime = time.Second
	// deniedPause is when an upstream is asked again that did not let a credential ask.
	deniedPause = 20 * time.Second
	// publishedLife is how long windows are believed that are not published any more.
	publishedLife = time.Hour
	// answerWait is how long a request may wait for an answer that is due.
	answerWait = 100 * time.Millisecond
)

// Windows are what an upstream publishes, by the name of a model.
type Windows map[string]compact.Published

// add adds what is published of a model; the smallest of several limits counts.
func (w Windows) add(model string, t compact.Published) {
	t.Window, t.Input = lower(w[model].Window, t.Window), lower(w[model].Input, t.Input)
	if t != (compact.Published{}) {
		w[model] = t
	}
}

// anyModel is the name of all models, where an upstream has one loaded and does
// not look at names.
const anyModel = "*"

// of returns what is published of a model, and reports whether anything is. Ollama calls
// llama3 llama3:latest.
func (w Windows) of(model string) (p compact.Published, ok bool) {
	for _, name := range []string{model, model + ":latest", anyModel} {
		if p, ok = w[name]; ok {
			break
		}
	}
	return p, ok
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
	mu        sync.Mutex
	published Windows   // the lists of two credentials may differ: those of some answers
	since     time.Time // when the first of these came
	manner
	next   time.Time     // zero: it was not asked yet
	again  time.Time     // when Again asked last; zero: it learnt something new
	answer chan struct{} // closed when the answer to a question is there; nil: none is asked
	waited bool          // the next request waits for it a little
	stale  bool          // what is being asked: the model was loaded meanwhile
}

// manner is how an upstream deals with prompts that are too long.
type manner struct {
	refuses bool // them, as far as is known
	loads   bool // it publishes windows of loaded models alone,
	unset   int  // and has this one unless it is told otherwise; 0: not known
}

// upstream returns what is known of an upstream.
func (m *Memory) upstream(u Upstream) *upstream {
	a, _ := m.upstreams.ComputeIfAbsent(m.Key("windows", u.URL.String(), u.Account), func() (*upstream, bool) { return &upstream{}, false })
	return a
}

// Window returns what an upstream that is not [Silent] publishes of a model, as far
// as is known, and reports whether the upstream refuses what is too long. It may
// begin to ask the upstream, and waits a little for an answer only behind
// [Memory.Again].
func (m *Memory) Window(u Upstream, model string) (p compact.Published, refuses bool) {
	a := m.upstream(u)
	a.mu.Lock()
	defer a.mu.Unlock()
	if due := a.answer; due != nil && a.waited {
		a.mu.Unlock()
		select {
		case <-due:
		case <-time.After(answerWait):
		}
		if a.mu.Lock(); a.answer == due {
			a.waited = false // others do not wait, too
		}
	}
	if a.answer == nil && !time.Now().Before(a.next) {
		m.ask(a, u, model)
	}
	p, _ = a.published.of(model)
	return p, a.refuses
}

// Again is called with each answer of an upstream. It asks once more where the answer
// contradicts the published window, or where the upstream publishes windows of loaded
// models alone, and must have loaded this one by now. Unless the last question brought something
// new, that is once a minute at most, and once a second where a loaded model's window is
// contradicted. The next request waits a little for that. If the
// upstream has nothing to tell of a loaded model, Again returns the window that it has by
// default; 0: not known.
func (m *Memory) Again(u Upstream, model string, contradicted bool) (unset int) {
	a := m.upstream(u)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	_, told := a.published.of(model)
	pause := soonTime
	if told && a.loads {
		pause = reloadTime
	}
	switch {
	case a.answer != nil && !told:
		a.stale, a.waited = true, true
	case a.answer != nil, told && !contradicted, !told && !a.loads:
	case now.Sub(a.again) >= pause:
		a.again, a.waited = now, true
		m.ask(a, u, model)
	case !told:
		return a.unset
	}
	return 0
}

// ask begins to ask an upstream. The lock is held.
func (m *Memory) ask(a *upstream, u Upstream, model string) {
	answer := make(chan struct{})
	if m.start(func(ctx context.Context) {
		defer close(answer)
		ctx, stop := context.WithTimeout(ctx, askTime)
		defer stop()
		for kept := false; !kept; {
			var f Found
			func() {
				defer m.recovered()
				f = m.Look(ctx, u)
			}()
			kept = a.keep(f, model, time.Now())
		}
	}) {
		a.answer = answer
	}
}

// keep keeps an answer, and decides when the upstream is asked next. It returns false
// if that is at once, because the answer is stale.
func (a *upstream) keep(f Found, model string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, told := f.Windows.of(model)
	if a.stale && f.loads && !told {
		a.stale = false
		return false
	}
	a.answer, a.waited, a.stale = nil, false, false
	if a.published == nil || now.Sub(a.since) >= publishedLife {
		a.published, a.since = Windows{}, now
	}
	before, _ := a.published.of(model)
	maps.Copy(a.published, f.Windows)
	if news, _ := a.published.of(model); news != before {
		a.again = time.Time{} // a model that is loaded anew may have another window soon
	}
	pause := freshTime
	switch {
	case f.denied:
		a.next = now.Add(deniedPause)
		return true
	case !told && a.next.IsZero():
		pause = soonTime
	}
	a.manner, a.next = f.manner, now.Add(pause)
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
