package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"laconic/proxy/apierror"
	"laconic/proxy/learn"
	"laconic/proxy/why"
)

const (
	// downAfter is how many requests in succession an upstream fails until it is
	// called down.
	downAfter = 3
	// downFor is how long after its last failure an upstream that is down makes
	// this proxy not ready. Who is not ready gets no requests, so nothing else
	// would ever show that the upstream is back.
	downFor = 30 * time.Second
)

// UpstreamEvent is what requests showed of an upstream, in a word.
type UpstreamEvent string

// The events of upstreams.
const (
	UpstreamDown UpstreamEvent = "down" // several requests in succession had no answer, a broken one, or 502, 503 or 504
	UpstreamUp   UpstreamEvent = "up"   // one is answered again
	// UpstreamWithoutPath: 404 for a path that every upstream has, below a base
	// URL without a version, such as /v1.
	UpstreamWithoutPath UpstreamEvent = "without_path"
	// UpstreamCuts: it reads as much of a prompt as its window holds, and drops the
	// rest without a word. Usage shows it, or it is known of the program and nothing
	// tells its window, so that its default is taken.
	UpstreamCuts UpstreamEvent = "cuts"
)

// UpstreamInfo is a change in what is known of an upstream. It is seen in the
// answers to requests: nobody probes.
type UpstreamInfo struct {
	Upstream string // its base URL, without what may be secret
	Event    UpstreamEvent
	// Failures is how many requests failed in succession; Code and Detail are
	// those of the last, as in ReplyInfo. Code is "status_503" where the upstream
	// said so itself.
	Failures     int
	Code, Detail string
	Why          why.Reason // why the last one failed
	// Down is how long it was down, of UpstreamUp: from the first failure.
	Down time.Duration
	// Endpoint is the path that is not there, Hint what would help.
	Endpoint, Hint string
	// Model is the one whose Window requests are held to from now on, in tokens, of
	// UpstreamCuts. Assumed: no usage showed it.
	Model   string
	Window  int
	Assumed bool
}

// upstreams is what requests have shown of the upstreams, by their origins.
type upstreams struct {
	mu  sync.Mutex
	all map[originKey]*upstreamState
}

type originKey struct{ scheme, host string }

func originOf(u *url.URL) originKey { return originKey{u.Scheme, u.Host} }

// upstreamState is what requests have shown of one upstream.
type upstreamState struct {
	failures int // in succession
	code     string
	why      why.Reason
	began    time.Time // of these failures
	failed   time.Time // the last one; zero: never
	answered time.Time // the last answer; zero: never

	found  bool // a path of the API was there
	hinted bool
}

func newUpstreams() *upstreams { return &upstreams{all: map[originKey]*upstreamState{}} }

// isDown reports whether the last requests all failed.
func (s *upstreamState) isDown() bool { return s.failures >= downAfter }

// observeUpstream notes what a request showed of its upstream, and tells the listener
// what changes by that. A client that left, a fault of ours and the end of this
// process show nothing.
func (x *exchange) observeUpstream() {
	code := x.info.Code
	switch code {
	case "":
		switch x.info.Status {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			code = fmt.Sprintf("status_%d", x.info.Status)
		}
	case apierror.CodeUnreachable, apierror.CodeBroke, apierror.CodeTimeout, apierror.CodeIdle, apierror.CodeProtocol:
	default:
		return
	}
	base := x.route.Upstream
	i := UpstreamInfo{Upstream: base.Scheme + "://" + base.Host + base.Path, Code: code, Detail: x.info.Detail, Why: why.Unanswered(base.Host, code, x.info.Detail)}
	for _, i.Event = range x.p.upstreams.observe(originOf(base), &i, x.pathSeen(), time.Now()) {
		if i.Event == UpstreamWithoutPath {
			i.Endpoint = x.info.Endpoint
			i.Hint = belowV1 + ": upstream: " + strings.TrimRight(i.Upstream, "/") + "/v1"
		}
		x.p.listener.Upstream(i)
	}
}

// tellCut tells the listener of a window that a silent cut taught.
func (x *exchange) tellCut(window int, seen bool) {
	base := x.route.Upstream
	x.p.listener.Upstream(UpstreamInfo{
		Upstream: base.Scheme + "://" + base.Host + base.Path, Event: UpstreamCuts, Model: x.info.Rewrite.Model, Window: window, Assumed: !seen,
		Hint: why.Raise,
	})
}

// version is the part of a base URL that says which API it is: /v1, /v1beta.
var version = regexp.MustCompile(`/v\d`)

// pathSeen is what an answer shows of the path of its request: that it is there,
// or that it is not, below a base URL without a version.
type pathSeen struct{ found, missing bool }

func (x *exchange) pathSeen() (seen pathSeen) {
	if x.info.Own || x.info.Wire == "" && x.info.Endpoint != "/models" {
		return seen
	}
	seen.found = x.info.Status < 300
	seen.missing = x.info.Status == http.StatusNotFound && !version.MatchString(x.route.Upstream.Path)
	return seen
}

// observe takes in one request, and returns what changes by it.
func (u *upstreams) observe(key originKey, i *UpstreamInfo, path pathSeen, now time.Time) (events []UpstreamEvent) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.all[key]
	if s == nil {
		s = &upstreamState{}
		u.all[key] = s
	}
	if i.Code != "" {
		if s.failures == 0 {
			s.began = now
		}
		s.failures, s.code, s.failed, s.why = s.failures+1, i.Code, now, i.Why
		i.Failures = s.failures
		if s.failures == downAfter {
			events = append(events, UpstreamDown)
		}
		return events
	}
	if s.isDown() {
		i.Failures, i.Down = s.failures, now.Sub(s.began)
		events = append(events, UpstreamUp)
	}
	s.failures, s.answered = 0, now
	s.found = s.found || path.found
	if path.missing && !s.found && !s.hinted {
		s.hinted = true
		events = append(events, UpstreamWithoutPath)
	}
	return events
}

// down reports whether every one of some upstreams that requests went to is down,
// as far as was seen lately.
func (u *upstreams) down(some map[originKey]bool, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	down := false
	for key, s := range u.all {
		if !some[key] {
			continue // the configuration does not have it any more
		}
		if down = s.isDown() && now.Sub(s.failed) <= downFor; !down {
			return false
		}
	}
	return down
}

// LearntModel is what was learnt of a model.
type LearntModel = learn.Known

// LearntModels returns what was learnt of models, and what upstreams publish of
// them, sorted.
func (p *Proxy) LearntModels() []LearntModel { return p.learnt.Known() }

// words says what requests have shown, a line for each upstream.
func (u *upstreams) words() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var lines []string
	at := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return t.UTC().Format(time.RFC3339)
	}
	for key, s := range u.all {
		state := "up"
		if s.isDown() {
			state = "down"
		}
		line := fmt.Sprintf("%s: %s, answered %s, failed %s", key, state, at(s.answered), at(s.failed))
		if s.code != "" {
			line += " (" + s.code + "; " + s.why.String() + ")"
		}
		lines = append(lines, line+fmt.Sprintf(", %d failures in succession\n", s.failures))
	}
	slices.Sort(lines)
	return fmt.Sprintf("upstreams: %d\n", len(lines)) + strings.Join(lines, "")
}

// belowV1 is the hint for a base URL without a version.
const belowV1 = "most servers have their API below /v1"
