package learn

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"laconic/compact"
)

const (
	// askTime is how long one question may take.
	askTime = 4 * time.Second
	// mostTold is how much of an answer is read; OpenRouter's list has 432 KB.
	mostTold = 4 << 20
	// freshFor is how long an answer holds. Models are loaded and unloaded.
	freshFor = 10 * time.Minute
	// firstAgain and lastAgain are when an upstream that told nothing of a
	// model is asked again: the pause doubles. Ollama tells a window only once
	// the model is loaded, which the first request does.
	firstAgain = time.Minute
	lastAgain  = time.Hour
	// forgottenAfter is how long an answer is believed that cannot be had again.
	forgottenAfter = time.Hour
	// deniedAgain is when another credential may ask an upstream that did not let
	// one ask: three a minute, however many there are. deniedFor is when the same
	// one may.
	deniedAgain = 20 * time.Second
	deniedFor   = time.Hour
)

// Windows are what an upstream tells, by the name of a model.
type Windows map[string]compact.Published

// add notes what is told of a model; the smallest counts where it is told more
// than once.
func (w Windows) add(model string, t compact.Published) {
	if model == "" {
		return
	}
	t = compact.Published{Window: least(w[model].Window, published(t.Window)), Input: least(w[model].Input, published(t.Input))}
	if t != (compact.Published{}) {
		w[model] = t
	}
}

// whatever stands for all models, where an upstream has one loaded and does not
// look at names.
const whatever = "*"

// spellings are the names under which a model may be told of. Ollama calls
// llama3 llama3:latest.
func spellings(model string) []string { return []string{model, model + ":latest", whatever} }

// of is what is told of a model.
func (w Windows) of(model string) (told compact.Published, ok bool) {
	for _, name := range spellings(model) {
		if told, ok = w[name]; ok {
			return told, true
		}
	}
	return compact.Published{}, false
}

// Upstream is an upstream that may be asked for the windows of its models.
type Upstream struct {
	URL *url.URL
	// Account is the operator's key for it, "" where there is none. With one, only
	// the list of models is asked for.
	Account string
	// Header is the credential that a question carries.
	Header http.Header
}

// upstream is what one upstream published about its models. Windows are facts of
// the upstream: what one credential was answered holds for all.
type upstream struct {
	mu      sync.Mutex
	heard   map[string]heard // by the name of a model
	refuses bool             // what is too long, as far as is known
	next    time.Time
	pause   time.Duration
	running bool
	denied  map[Key]time.Time // credentials that may not ask, until then
}

// heard is what was published of a model, and when it was read.
type heard struct {
	compact.Published
	at time.Time
}

// of returns what was published of a model and is still believed.
func (a *upstream) of(model string, now time.Time) compact.Published {
	for _, name := range spellings(model) {
		if h, ok := a.heard[name]; ok && now.Sub(h.at) <= forgottenAfter {
			return h.Published
		}
	}
	return compact.Published{}
}

// Window returns what an upstream publishes of a model, nothing where that is not
// known yet, or never, and reports whether the upstream is one that refuses what
// is too long. It may start to ask, and does not wait for the answer.
func (m *Memory) Window(u Upstream, model string) (told compact.Published, refuses bool) {
	if Silent(u.URL) {
		return compact.Published{}, true
	}
	key := m.Key("windows", u.URL.String(), u.Account)
	a, ok := m.upstreams.GetIfPresent(key)
	if !ok {
		a, _ = m.upstreams.SetIfAbsent(key, &upstream{})
	}
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	told, refuses = a.of(model, now), a.refuses
	if a.running || now.Before(a.next) {
		return told, refuses
	}
	who := m.who(u)
	if now.Before(a.denied[who]) {
		return told, refuses
	}
	a.running = m.background.start(func(ctx context.Context) { m.ask(ctx, a, u, who, model) })
	if !a.running {
		a.next = now.Add(firstAgain)
	}
	return told, refuses
}

// who returns the key of the credential that a question carries.
func (m *Memory) who(u Upstream) Key {
	list := []string{"asks", u.URL.String()}
	for _, name := range slices.Sorted(maps.Keys(u.Header)) {
		list = append(append(list, name, strconv.Itoa(len(u.Header[name]))), u.Header[name]...)
	}
	return m.Key(list...)
}

// asked notes that nobody asks any more.
func (a *upstream) asked() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = false
}

// ask asks an upstream, and notes what it published.
func (m *Memory) ask(ctx context.Context, a *upstream, u Upstream, who Key, model string) {
	defer a.asked() // also after a panic
	windows, _, refuses, denied := m.windows(ctx, u)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if denied {
		maps.DeleteFunc(a.denied, func(_ Key, until time.Time) bool { return now.After(until) })
		if a.denied == nil {
			a.denied = map[Key]time.Time{}
		}
		a.denied[who], a.next = now.Add(deniedFor), now.Add(deniedAgain)
		return
	}
	a.refuses = refuses
	a.hear(windows, now)
	if _, ok := windows.of(model); ok {
		a.pause, a.next = 0, now.Add(freshFor)
		return
	}
	last := lastAgain
	if len(windows) > 0 {
		last = freshFor // a name that nobody has must not make the others old
	}
	a.pause = min(max(2*a.pause, firstAgain), last)
	a.next = now.Add(a.pause)
}

// hear takes in what was told now, and forgets what is not believed any more:
// one credential may be told of other models than another.
func (a *upstream) hear(windows Windows, now time.Time) {
	maps.DeleteFunc(a.heard, func(_ string, h heard) bool { return now.Sub(h.at) > forgottenAfter })
	if a.heard == nil {
		a.heard = make(map[string]heard, len(windows))
	}
	for name, told := range windows {
		a.heard[name] = heard{told, now}
	}
}

// windows asks the places where upstreams tell windows, in their order, until
// one does. from names it. refuses reports whether the upstream is none of those
// that cut a prompt which is too long without a word: another kind told, or none
// of their pages is there. denied reports whether it does not tell this
// credential.
func (m *Memory) windows(ctx context.Context, u Upstream) (told Windows, from string, refuses, denied bool) {
	refuses = true
	for i := range sources {
		s := &sources[i]
		if u.Account != "" && !s.list {
			return nil, "", false, false // with a key of the operator's only the list of models is asked for
		}
		body, status := m.get(ctx, s.at(u.URL), u.Header)
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			return nil, "", false, true // what is not for this credential is not asked for under other names
		}
		if told := s.read(body); len(told) > 0 {
			return told, s.name, !s.cuts, false
		}
		if s.cuts && !absent(status) && (body == nil || fieldsOf(body) != nil) {
			refuses = false // it has nothing loaded, or did not answer
		}
	}
	return nil, "", refuses, false
}

// absent reports whether a status says that there is no such page.
func absent(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout
}

// get reads a page of an upstream; nil unless it is there. Redirects are not
// followed: the credential goes where the operator pointed it.
func (m *Memory) get(ctx context.Context, at *url.URL, auth http.Header) (body []byte, status int) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, 0
	}
	r.Header = auth.Clone()
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "laconic")
	r.Header.Set("Via", "1.1 "+m.o.Via) // it may come back to us
	res, err := m.o.Transport.RoundTrip(r)
	if err != nil {
		return nil, 0
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, res.StatusCode
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, mostTold+1))
	if err != nil || len(body) > mostTold {
		return nil, 0
	}
	return body, http.StatusOK
}

// Silent reports whether an upstream is known to publish no windows: asking it
// would only cost it a request.
func Silent(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	for _, known := range []string{"api.openai.com", "api.deepseek.com", "generativelanguage.googleapis.com", "api.anthropic.com"} {
		if host == known {
			return true
		}
	}
	return strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".azure.com")
}

// Discover asks an upstream for the window of a model and waits for the answer.
// from names the page that had it; "" where none did.
func (m *Memory) Discover(ctx context.Context, u Upstream, model string) (told compact.Published, from string) {
	if Silent(u.URL) {
		return compact.Published{}, ""
	}
	windows, from, _, _ := m.windows(ctx, u)
	told, ok := windows.of(model)
	if !ok {
		return compact.Published{}, ""
	}
	return told, from
}
