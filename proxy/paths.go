package proxy

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// endpoints are the paths of the API that clients ask for also without /v1:
// with or without it they stand below the upstream's URL. They are also what is
// served where a key of ours is sent, and nothing else is. The body of a POST
// names its model. Of two that a path ends in, the longer one is first.
var endpoints = []struct {
	method, path string
	below        bool // paths below it too
}{
	{http.MethodPost, chatCompletions, false},
	{http.MethodPost, "/completions", false},
	{http.MethodPost, "/embeddings", false},
	{http.MethodPost, "/moderations", false},
	{http.MethodPost, "/responses/compact", false},
	{http.MethodPost, "/responses/input_tokens", false},
	{http.MethodPost, "/responses", true},
	{http.MethodPost, messages + "/count_tokens", false},
	{http.MethodPost, messages, false},
	{http.MethodPost, "/audio/speech", false},
	{http.MethodPost, "/audio/transcriptions", false},
	{http.MethodPost, "/audio/translations", false},
	{http.MethodPost, "/images/generations", false},
	{http.MethodPost, "/images/edits", false},
	{http.MethodPost, "/images/variations", false},
	{http.MethodGet, models, true},
}

const (
	chatCompletions = "/chat/completions"
	messages        = "/messages" // Anthropic's
	models          = "/models"
)

// deployments is Azure's spelling: /openai/deployments/NAME/chat/completions.
// Below an upstream's /openai it is without the first word.
const (
	deployments      = "/openai/deployments/"
	shortDeployments = "/deployments/"
)

// inDeployment returns the name of the deployment in a path, "" where there is
// none.
func inDeployment(path string) string {
	rest, _ := afterV1(plain(path))
	for _, prefix := range []string{deployments, shortDeployments} {
		if len(rest) > len(prefix) && strings.EqualFold(rest[:len(prefix)], prefix) {
			name, _, _ := strings.Cut(rest[len(prefix):], "/")
			return name
		}
	}
	return ""
}

// afterV1 is what follows /v1 in a path, and whether /v1 stands there.
func afterV1(path string) (string, bool) {
	if len(path) >= 3 && strings.EqualFold(path[:3], "/v1") && (len(path) == 3 || path[3] == '/') {
		return path[3:], true
	}
	return path, false
}

// mostEscaped is how many times over a path is unescaped.
const mostEscaped = 4

// plain returns a path as the most forgiving server reads it, but for capitals:
// escapes are resolved, also those of escapes, parameters (;x=1) and what is no
// text are left out, a run of slashes is one.
func plain(p string) string {
	for range mostEscaped {
		next, err := url.PathUnescape(p)
		if err != nil || next == p {
			break
		}
		p = next
	}
	p = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case r <= ' ' || r == 0x7f:
			return -1
		}
		return r
	}, p)
	if at := strings.IndexAny(p, "?#"); at >= 0 {
		p = p[:at]
	}
	segments := strings.Split(p, "/")
	for i := range segments {
		segments[i], _, _ = strings.Cut(segments[i], ";")
	}
	return path.Clean("/" + strings.Join(segments, "/"))
}

// endpoint returns the endpoint that a request asks for, however its path is
// spelled and whatever stands before it; "" where it is none we know. One of
// another method counts where there is none of the request's. Logs name requests
// by it, because other paths may hold anything.
func endpoint(method, path string) (found string) {
	p := strings.ToLower(plain(path))
	rest, _ := afterV1(p)
	for _, e := range endpoints {
		if !strings.HasSuffix(p, e.path) && (!e.below || !strings.HasPrefix(rest, e.path+"/")) {
			continue
		}
		if e.method == method {
			return e.path
		}
		if found == "" {
			found = e.path
		}
	}
	return found
}

// belowBase reports whether a path without /v1 is below an upstream's URL.
func belowBase(path string) bool {
	for _, e := range endpoints {
		if path == e.path || e.below && strings.HasPrefix(path, e.path+"/") {
			return true
		}
	}
	return false
}

// modelInPath is the model that a path names instead of the body; "" mostly.
func modelInPath(u *url.URL) string {
	if name := inDeployment(u.Path); name != "" {
		return name
	}
	rest, _ := afterV1(plain(u.Path))
	if len(rest) > len(models)+1 && strings.EqualFold(rest[:len(models)+1], models+"/") {
		return rest[len(models)+1:]
	}
	return ""
}

// placeAt gives the path and query that a request has at an upstream: the
// client's /v1 stands for base. A path without it stands beside the upstream's
// own /v1, if it has one (Ollama's /api/tags, llama.cpp's /props), else below
// base. Scheme and host are never the request's.
func placeAt(base, in *url.URL) *url.URL {
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	rest, v1 := afterV1(in.EscapedPath())
	if !v1 && !belowBase(rest) {
		prefix = strings.TrimSuffix(prefix, "/v1")
	}
	raw := prefix + rest
	if raw == "" {
		raw = "/"
	}
	out := &url.URL{Scheme: base.Scheme, Host: base.Host, RawQuery: in.RawQuery, ForceQuery: in.ForceQuery}
	if base.RawQuery != "" {
		out.RawQuery = base.RawQuery
		if in.RawQuery != "" {
			out.RawQuery += "&" + in.RawQuery
		}
	}
	path, err := url.PathUnescape(raw)
	if err != nil {
		// unreachable: both paths were parsed by net/url before
		panic("BUG: a parsed path does not unescape")
	}
	out.Path, out.RawPath = path, raw
	return out
}

// wanders tells whether a path has a dot segment under any reading: such a
// path could leave the base of the upstream.
func wanders(u *url.URL) bool {
	if !strings.Contains(u.Path, ".") {
		return false
	}
	for segment := range strings.FieldsFuncSeq(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
		segment, _, _ = strings.Cut(segment, ";")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// servedWithKey tells whether a request may carry a key of ours: an endpoint
// of the list, asked with its method, on a path that every server reads the
// same way. What is below responses belongs to an account, not to a model.
func servedWithKey(method string, u *url.URL) bool {
	path := u.Path
	if wanders(u) || strings.ContainsAny(path, "\\%;") || strings.Contains(path, "//") ||
		strings.HasSuffix(path, "/") || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return false
	}
	rest, escaped := strings.TrimPrefix(path, "/v1"), u.EscapedPath() != path
	if after, ok := strings.CutPrefix(path, deployments); ok {
		name, tail, _ := strings.Cut(after, "/")
		if name == "" || method != http.MethodPost {
			return false
		}
		rest = "/" + tail
	}
	for _, e := range endpoints {
		if method == e.method && (rest == e.path && !escaped || e.below && method == http.MethodGet && strings.HasPrefix(rest, e.path+"/")) {
			return true
		}
	}
	return false
}

// ServedWithKey names what is served where a key of ours is sent.
func ServedWithKey() string {
	var all []string
	for _, e := range endpoints {
		if e.path != models {
			all = append(all, e.path[1:])
		}
	}
	return "POST of " + strings.Join(all, ", ") + ", and GET of models"
}
