package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// endpoints are the paths of the API that clients ask for also without /v1:
// with or without it they stand below the upstream's URL. They are also what
// is served where a key of ours is sent, and nothing else is.
var endpoints = []struct {
	method, path string
	below        bool // paths below it too
}{
	{http.MethodPost, "/chat/completions", false},
	{http.MethodPost, "/completions", false},
	{http.MethodPost, "/embeddings", false},
	{http.MethodPost, "/responses", false},
	{http.MethodGet, "/models", true},
}

// deployments is Azure's spelling: /openai/deployments/NAME/chat/completions.
// Below an upstream's /openai it is without the first word.
const (
	deployments      = "/openai/deployments/"
	shortDeployments = "/deployments/"
)

// inDeployment cuts a path behind the name of a deployment.
func inDeployment(path string) (name, tail string) {
	rest, _ := afterV1(path)
	after, ok := strings.CutPrefix(rest, deployments)
	if !ok {
		if after, ok = strings.CutPrefix(rest, shortDeployments); !ok {
			return "", ""
		}
	}
	name, tail, _ = strings.Cut(after, "/")
	return name, tail
}

// afterV1 is what follows /v1 in a path, and whether /v1 stands there.
func afterV1(path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "/v1"); ok && (rest == "" || rest[0] == '/') {
		return rest, true
	}
	return path, false
}

// endpoint names the endpoint of a path, "" when it is none we know. Logs name
// requests by it, because other paths may hold anything.
func endpoint(path string) string {
	rest, _ := afterV1(path)
	if name, tail := inDeployment(path); name != "" {
		rest = "/" + tail
	}
	for _, e := range endpoints {
		if rest == e.path || (e.below && strings.HasPrefix(rest, e.path+"/")) {
			return e.path
		}
	}
	return ""
}

// chat tells whether a request is a chat completion, which is rewritten. Twice
// written and trailing slashes do not hide one: clients make them out of a
// base URL that ends in a slash, and some upstreams do not mind.
func chat(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	path := strings.TrimRight(r.URL.EscapedPath(), "/")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return strings.HasSuffix(path, "/chat/completions")
}

// modelInPath is the model that a path names instead of the body; "" mostly.
func modelInPath(u *url.URL) string {
	if name, _ := inDeployment(u.Path); name != "" {
		return name
	}
	rest, _ := afterV1(u.Path)
	name, _ := strings.CutPrefix(rest, "/models/")
	if name == rest {
		return ""
	}
	return name
}

// placeAt gives the path and query that a request has at an upstream: the
// client's /v1 stands for base. A path without it stands beside the upstream's
// own /v1, if it has one (Ollama's /api/tags, llama.cpp's /props), else below
// base. Scheme and host are never the request's.
func placeAt(base, in *url.URL) *url.URL {
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	rest, v1 := afterV1(in.EscapedPath())
	if !v1 && (endpoint(rest) == "" || strings.HasPrefix(rest, deployments) || strings.HasPrefix(rest, shortDeployments)) {
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
// same way.
func servedWithKey(method string, u *url.URL) bool {
	path := u.Path
	if wanders(u) || strings.ContainsAny(path, "\\%;") || strings.Contains(path, "//") ||
		strings.HasSuffix(path, "/") || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return false
	}
	rest, _ := afterV1(path)
	escaped := u.EscapedPath() != path
	if after, ok := strings.CutPrefix(path, deployments); ok {
		_, tail, _ := strings.Cut(after, "/")
		return method == http.MethodPost && !escaped &&
			slices.Contains([]string{"chat/completions", "completions", "embeddings"}, tail)
	}
	for _, e := range endpoints {
		if method == e.method && (rest == e.path && !escaped || e.below && strings.HasPrefix(rest, e.path+"/")) {
			return true
		}
	}
	return false
}
