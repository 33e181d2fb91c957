package access

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"laconic/proxy/apierror"
)

// endpoint is a path of the API.
type endpoint struct {
	method, path string
	below        bool // paths below it too
}

// endpoints are the paths of the API that clients also ask for without /v1: with or
// without it, they are below the upstream's URL. With a key of ours nothing else is
// served. The body of a POST names its model. If a path may end in two endpoints, the
// longer one comes first.
var endpoints = []endpoint{
	{http.MethodPost, ChatCompletions, false},
	{http.MethodPost, "/completions", false},
	{http.MethodPost, "/embeddings", false},
	{http.MethodPost, "/moderations", false},
	{http.MethodPost, "/responses/compact", false},
	{http.MethodPost, "/responses/input_tokens", false},
	{http.MethodPost, "/responses", true},
	{http.MethodPost, Messages + "/count_tokens", false},
	{http.MethodPost, Messages, false},
	{http.MethodPost, "/audio/speech", false},
	{http.MethodPost, "/audio/transcriptions", false},
	{http.MethodPost, "/audio/translations", false},
	{http.MethodPost, "/images/generations", false},
	{http.MethodPost, "/images/edits", false},
	{http.MethodPost, "/images/variations", false},
	{http.MethodGet, Models, true},
}

// The endpoints that other packages name.
const (
	ChatCompletions = "/chat/completions"
	Messages        = "/messages" // Anthropic's
	Models          = "/models"
)

// deployments is Azure's spelling, /openai/deployments/NAME/chat/completions.
const deployments = "/openai/deployments/"

// namesDeployment matches what names a deployment in a path, also below an upstream that
// ends in /openai.
var namesDeployment = regexp.MustCompile(`^(?:/(?i:openai))?/(?i:deployment)[sS]/([^/]+)`)

// Deployment returns the name of the Azure deployment in a path, or "".
func Deployment(path string) string {
	rest, _ := afterV1(plain(path))
	if found := namesDeployment.FindStringSubmatch(rest); found != nil {
		return found[1]
	}
	return ""
}

// afterV1 returns what follows /v1 in a path, and whether the path begins with it.
func afterV1(path string) (string, bool) {
	if len(path) >= 3 && strings.EqualFold(path[:3], "/v1") && (len(path) == 3 || path[3] == '/') {
		return path[3:], true
	}
	return path, false
}

// mostEscaped is how many times a path is unescaped.
const mostEscaped = 4

// plain returns a path as the most forgiving server reads it, case aside: escapes
// are resolved, also escaped escapes; parameters (;x=1) and control characters
// are left out; a run of slashes is one.
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

// Endpoint returns the endpoint that a request asks for, however its path is
// spelled and whatever precedes it, or "". An endpoint of another method counts
// if the request's method has none. Logs name requests by their endpoint, because
// a path may hold anything.
func Endpoint(method, path string) (found string) {
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

// Exact returns the endpoint that a path names itself, however it is spelled, or "":
// neither one that has it below (/responses/ID/cancel) nor one of a collection whose
// last word is the same (/threads/ID/messages). It is the endpoint whose API the body
// of a POST is written in.
func Exact(path string) string {
	p := strings.ToLower(plain(path))
	for _, e := range endpoints {
		if before, ok := strings.CutSuffix(p, e.path); ok && e.method == http.MethodPost {
			if strings.Count(e.path, "/") > 1 || isRoot(before) {
				return e.path // two words are no other collection
			}
			return ""
		}
	}
	return ""
}

// isRoot reports whether an API may begin behind a path.
func isRoot(before string) bool {
	if name := Deployment(before); name != "" {
		return strings.HasSuffix(before, "/"+name)
	}
	return before == "" || strings.HasSuffix(before, "/v1") || strings.HasSuffix(before, "/openai")
}

// namesModel matches what names a model in a path: Gemini's :generateContent follows it,
// and in older paths of engines the endpoint.
var namesModel = regexp.MustCompile(`(?i)/(?:models/(?-i:(.+?)(?::[a-z]+[A-Z][A-Za-z]*)?)|engines/([^/]+)(?:/.*)?)$`)

// ModelInPath returns the model that a path names, or "".
func ModelInPath(u *url.URL) string {
	if name := Deployment(u.Path); name != "" {
		return name
	}
	if found := namesModel.FindStringSubmatch(plain(u.Path)); found != nil {
		return found[1] + found[2]
	}
	return ""
}

// UpstreamURL returns the URL of a request at an upstream: base replaces the
// client's /v1. A path without /v1 is beside the upstream's own /v1, if that has
// one (Ollama's /api/tags, llama.cpp's /props), and below base otherwise. Scheme
// and host are never the request's.
func UpstreamURL(base, in *url.URL) *url.URL {
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	rest, v1 := afterV1(in.EscapedPath())
	if !v1 && !slices.ContainsFunc(endpoints, func(e endpoint) bool { return rest == e.path || e.below && strings.HasPrefix(rest, e.path+"/") }) {
		prefix = strings.TrimSuffix(prefix, "/v1")
	}
	raw := cmp.Or(prefix+rest, "/")
	path, _ := url.PathUnescape(raw) // both were parsed by net/url before
	query := cmp.Or(base.RawQuery, in.RawQuery)
	if base.RawQuery != "" && in.RawQuery != "" {
		query = base.RawQuery + "&" + in.RawQuery
	}
	return &url.URL{Scheme: base.Scheme, Host: base.Host, Path: path, RawPath: raw, RawQuery: query, ForceQuery: in.ForceQuery}
}

// hasDotSegment reports whether a path has a dot segment under any reading. Such
// a path could leave the base of the upstream.
func hasDotSegment(u *url.URL) bool {
	for segment := range strings.FieldsFuncSeq(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
		segment, _, _ = strings.Cut(segment, ";")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// CheckPath refuses a request that must not carry a key of ours, "" for none: with it a
// client could otherwise reach files, batches or settings of the account.
func CheckPath(r *http.Request, key Secret) *apierror.Error {
	if key == "" || servedWithKey(r.Method, r.URL) {
		return nil
	}
	return &apierror.Error{
		Status: http.StatusNotFound, Code: "path_not_served",
		Message: "With a key of its own the proxy serves only " + ServedWithKey() + ".",
	}
}

// servedWithKey reports whether a request may carry a key of ours: an endpoint of
// the list, asked with its method, on a path that every server reads the same
// way. Paths below /responses belong to an account, not to a model.
func servedWithKey(method string, u *url.URL) bool {
	path := u.Path
	if hasDotSegment(u) || strings.ContainsAny(path, "\\%;") || strings.Contains(path, "//") ||
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
	return slices.ContainsFunc(endpoints, func(e endpoint) bool {
		return method == e.method && (rest == e.path && !escaped || e.below && method == http.MethodGet && strings.HasPrefix(rest, e.path+"/"))
	})
}

// ServedWithKey returns what is served where a key of ours is sent, in words.
func ServedWithKey() string {
	var all []string
	for _, e := range endpoints {
		if e.path != Models {
			all = append(all, e.path[1:])
		}
	}
	return "POST of " + strings.Join(all, ", ") + ", and GET of models"
}
