package learn

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

const (
	// queryTime is how long one page may take.
	queryTime = 4 * time.Second
	// mostPage is how much of a page is read; OpenRouter's list has 432 KB.
	mostPage = 4 << 20
	// freshTime is how old an answer may be. Models are loaded and unloaded.
	freshTime = 10 * time.Minute
	// firstPause and longestPause are when an upstream that published nothing of a
	// model is asked again: the pause doubles. Ollama publishes a window only once
	// the model is loaded, which the first request does: see Loaded.
	firstPause   = time.Minute
	longestPause = time.Hour
	// publishedLife is how long an answer is believed that cannot be had again.
	publishedLife = time.Hour
	// deniedPause is when another credential may ask an upstream that refused one:
	// three a minute, however many there are. deniedLife is when the same one may.
	deniedPause = 20 * time.Second
	deniedLife  = time.Hour
)

// Windows are what an upstream publishes, by the name of a model.
type Windows map[string]compact.Published

// add adds what is published of a model; the smallest of several limits counts.
func (w Windows) add(model string, t compact.Published) {
	t.Window, t.Input = lower(w[model].Window, credible(t.Window)), lower(w[model].Input, credible(t.Input))
	if model != "" && t != (compact.Published{}) {
		w[model] = t
	}
}

// anyModel is the name of all models, where an upstream has one loaded and does
// not look at names.
const anyModel = "*"

// spellings returns the names under which a model may be published. Ollama calls
// llama3 llama3:latest.
func spellings(model string) []string { return []string{model, model + ":latest", anyModel} }

// of returns what is published of a model, and reports whether anything is.
func (w Windows) of(model string) (p compact.Published, ok bool) {
	for _, name := range spellings(model) {
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
	// Header returns the credential that requests for pages carry. It is called
	// where the upstream is asked, and before the methods below return.
	Header func() http.Header
}

// upstream is what one upstream published about its models. Windows are facts of
// the upstream: what one credential was answered holds for all.
type upstream struct {
	mu        sync.Mutex
	published map[string]Fact[compact.Published] // by the name of a model
	refuses   bool                               // what is too long, as far as is known
	loads     bool                               // it publishes windows of loaded models alone,
	unset     int                                // and has this one unless it is told otherwise; 0: not known
	next      time.Time
	pause     time.Duration
	asking    bool
	// cold is how often Loaded may still ask, again that it does behind the question
	// that is under way; loaded is closed when it has its answer.
	cold   int
	again  bool
	loaded chan struct{}
	// doubted is when Doubt asked last.
	doubted time.Time
	denied  map[Key]time.Time // credentials that may not ask, until then
}

// of returns what was published of a model and is still believed.
func (a *upstream) of(model string, now time.Time) compact.Published {
	for _, name := range spellings(model) {
		if p := a.published[name].at(now).Value; p != (compact.Published{}) {
			return p
		}
	}
	return compact.Published{}
}

// Window returns what an upstream that is not [Silent] publishes of a model, as far
// as is known, and reports whether the upstream refuses what is too long. It may
// begin to ask the upstream, and waits for the answer only behind [Memory.Loaded],
// for loadedWait.
func (m *Memory) Window(u Upstream, model string) (p compact.Published, refuses bool) {
	key := m.Key("windows", u.URL.String(), u.Account)
	a, ok := m.upstreams.GetIfPresent(key)
	if !ok {
		a, _ = m.upstreams.SetIfAbsent(key, &upstream{})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.await()
	now := time.Now()
	if !a.asking && !now.Before(a.next) {
		a.cold = maxCold
		m.begin(a, u, model, now)
	}
	return a.of(model, now), a.refuses
}

// credential returns the key of the credential that requests for pages carry.
func (m *Memory) credential(u Upstream, auth http.Header) Key {
	list := []string{"asks", u.URL.String()}
	for _, name := range slices.Sorted(maps.Keys(auth)) {
		list = append(append(list, name, strconv.Itoa(len(auth[name]))), auth[name]...)
	}
	return m.Key(list...)
}

// answer is what the pages of an upstream say.
type answer struct {
	windows Windows
	from    string // the name of the page that has them
	refuses bool   // the upstream is not one that cuts a prompt which is too long
	loads   bool   // the page is of loaded models alone,
	unset   int    // and this is the window of the program if it is told none; 0: not known
	denied  bool   // the pages are not for this credential
}

// ask asks an upstream, and keeps what it publishes. It reports whether to ask again.
func (m *Memory) ask(ctx context.Context, a *upstream, u Upstream, auth http.Header, who Key, model string) (again bool) {
	var got answer
	defer func() { again = a.keep(got, who, model, time.Now()) }() // also after a panic
	got = m.pages(ctx, u, auth)
	return false
}

// keep keeps an answer, and decides when the upstream is asked next. again: at once,
// for it has loaded the model meanwhile.
func (a *upstream) keep(got answer, who Key, model string, now time.Time) (again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := got.windows.of(model); a.again && !ok && got.loads {
		a.again = false
		return true
	}
	a.asking, a.again = false, false
	if a.loaded != nil {
		close(a.loaded)
		a.loaded = nil
	}
	if got.denied {
		maps.DeleteFunc(a.denied, func(_ Key, until time.Time) bool { return now.After(until) })
		if a.denied == nil {
			a.denied = map[Key]time.Time{}
		}
		a.denied[who], a.next = now.Add(deniedLife), now.Add(deniedPause)
		return false
	}
	a.refuses, a.loads, a.unset = got.refuses, got.loads, got.unset
	a.add(got.windows, now)
	longest := longestPause
	if len(got.windows) > 0 {
		longest = freshTime // a name that nobody has must not make the others old
	}
	a.pause = min(max(2*a.pause, firstPause), longest)
	a.next = now.Add(a.pause)
	if _, ok := got.windows.of(model); ok {
		a.pause, a.next = 0, now.Add(freshTime)
	}
	return false
}

// add adds windows, and forgets those that are not believed any more: the lists of
// two credentials may differ.
func (a *upstream) add(windows Windows, now time.Time) {
	maps.DeleteFunc(a.published, func(_ string, p Fact[compact.Published]) bool { return !now.Before(p.Until) })
	if a.published == nil {
		a.published = make(map[string]Fact[compact.Published], len(windows))
	}
	for name, p := range windows {
		a.published[name] = believe(p, now, publishedLife)
	}
}

// pages reads the pages where upstreams publish windows, in their order, until one
// has any. An upstream refuses what is too long if it publishes on another page
// than those that cut, or has none of their pages.
func (m *Memory) pages(ctx context.Context, u Upstream, auth http.Header) answer {
	got := answer{refuses: true}
	for i := range sources {
		s := &sources[i]
		if u.Account != "" && !s.list {
			return answer{} // with a key of the operator's only the list of models is asked for
		}
		body, status := m.get(ctx, s.at(u.URL), auth)
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			return answer{denied: true} // what is not for this credential is not asked for under other names
		}
		if windows := s.read(body); len(windows) > 0 {
			if t, one := windows[anyModel]; one && s.list && u.Account == "" {
				page, _ := m.get(ctx, sources[llamaCppPage].at(u.URL), auth)
				t.NoTools, t.NoCalls = leftOut(page)
				for name := range windows {
					windows[name] = t
				}
			}
			return answer{windows: windows, from: s.name, refuses: !s.cuts, loads: s.cuts, unset: s.unset}
		}
		if s.cuts && !absent(status) && (body == nil || json.Valid(body) && gjson.ParseBytes(body).IsObject()) {
			got.refuses = false                        // it has nothing loaded, or did not answer
			if gjson.GetBytes(body, s.mark).Exists() { // else it may answer any path
				got.loads, got.unset = true, max(got.unset, s.unset)
			}
		}
	}
	return got
}

// absent reports whether a status says that there is no such page.
func absent(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout
}

// get returns a page of an upstream, nil unless it is there, and its status. Redirects are not
// followed: the credential goes where the operator pointed it.
func (m *Memory) get(ctx context.Context, at *url.URL, auth http.Header) (body []byte, status int) {
	ctx, stop := context.WithTimeout(ctx, queryTime)
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
	body, err = io.ReadAll(io.LimitReader(res.Body, mostPage+1))
	if err != nil || len(body) > mostPage {
		return nil, 0
	}
	return body, http.StatusOK
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

// Discover asks an upstream for the window of a model and waits for the answer.
// from names the page that has it; "": none has.
func (m *Memory) Discover(ctx context.Context, u Upstream, model string) (p compact.Published, from string) {
	if !Silent(u.URL) {
		got := m.pages(ctx, u, u.Header())
		if p, ok := got.windows.of(model); ok {
			return p, got.from
		}
	}
	return compact.Published{}, ""
}
