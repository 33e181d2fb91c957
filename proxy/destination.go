package proxy

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/wire"
)

// sameDestination reports whether requests go to the same place by two routes,
// with the same credential.
func sameDestination(a, b *Route) bool {
	return a.Upstream.String() == b.Upstream.String() && a.Key == b.Key && a.ClientCredential == b.ClientCredential
}

// errModelInside: a body names a model elsewhere than at its top, and its path is not known.
var errModelInside = errors.New("the body names its model inside")

// errEncoding: a body is compressed in a way that is not known here, or broken.
var errEncoding = errors.New("the body cannot be decompressed")

// byModel sets the route of a request whose endpoint has no wire. Where rows
// differ in upstream or key, the body of an endpoint that names a model is read
// for it, JSON or a form, which is then in; the model of a form is in its first megabyte.
// So is JSON that goes to a path that is not known, whatever its type says; an object that
// cannot be read is refused, and so is what names inside a model of another place. No byte
// of it changes.
func (x *request) byModel() (in *body.Body, no *apierror.Error) {
	bare := (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead) && x.r.ContentLength == 0
	if !x.settings.parted || bare || x.info.Endpoint == access.Models {
		return nil, x.choose("", nil)
	}
	kind, boundary, err := x.contentType()
	known := x.info.Endpoint != ""
	switch {
	case !known && body.Encoding(x.r.Header) == "":
		first, err := body.Beginning(x.p.closing, x.r, x.w.Controller)
		if err != nil {
			return nil, x.unreadable(err)
		}
		if first != '{' && (first != '[' || kind == "application/octet-stream") {
			return nil, x.choose("", nil)
		}
	case err != nil:
		return nil, x.choose("", err)
	case !body.Readable(body.Encoding(x.r.Header)):
		return nil, x.choose("", errEncoding)
	}
	if in, no = x.read(); no != nil {
		return nil, no
	}
	if kind == "multipart/form-data" && in.Problem == "" {
		return in, x.choose(body.ModelInForm(in.Text, boundary))
	}
	if known || in.Problem != "" {
		return in, x.chooseFor(in, nil)
	}
	model, err := wire.Model(in.Text)
	if err != nil && body.First(in.Text) != '{' {
		err = nil // only an object names a model
	}
	if no = x.choose(model, err); no == nil && model == "" {
		no = x.chosenInside(in.Text)
	}
	return in, no
}

// Models that JSON names inside: in a list of requests, of a session, or in Ollama's words.
var (
	modelInside = regexp.MustCompile(`"model"\s*:\s*(?:\[\s*|\{[^{}]*?:\s*)?("(?:[^"\\]|\\.)*")`)
	modelOllama = regexp.MustCompile(`"(?:model|name|source)"\s*:\s*("(?:[^"\\]|\\.)*")`)
)

// chosenInside refuses a body that names a model inside whose row sends to another place
// than this request goes to.
func (x *request) chosenInside(text []byte) *apierror.Error {
	names := modelInside
	if strings.HasPrefix(x.r.URL.Path, "/api/") {
		names = modelOllama
	}
	for {
		at := names.FindSubmatchIndex(text)
		if at == nil {
			return nil
		}
		var model string
		if json.Unmarshal(text[at[2]:at[3]], &model) == nil && !sameDestination(x.route, x.settings.routeFor(model)) {
			return modelUnclear(errModelInside)
		}
		text = text[at[1]:]
	}
}

// contentType returns what the body of a request is, "" where it does not say,
// and the boundary of a form.
func (x *request) contentType() (kind, boundary string, err error) {
	kinds := x.r.Header["Content-Type"]
	switch len(kinds) {
	case 0:
		return "", "", nil
	case 1:
		var options map[string]string
		kind, options, err = mime.ParseMediaType(kinds[0])
		if kind == "multipart/form-data" && (err != nil || options["boundary"] == "") {
			err = body.ErrForm
		}
		return kind, options["boundary"], err
	}
	return "", "", errors.New("two Content-Type headers")
}

// chooseFor sets the route of a request whose body was read: decoded, or not.
func (x *request) chooseFor(in *body.Body, req *wire.Request) *apierror.Error {
	switch {
	case req != nil:
		return x.choose(req.Model, nil)
	case in.Problem != "":
		return x.choose("", errEncoding)
	}
	return x.choose(wire.Model(in.Text))
}

// choose sets the route of a request whose body names a model; "" where it names none,
// err where that cannot be told. Then only the path can tell. A request that may be for
// a model of another row is refused where the rows go to different places: it would end
// at the wrong one, with the wrong credential.
func (x *request) choose(model string, err error) *apierror.Error {
	inPath := access.ModelInPath(x.r.URL)
	x.route = x.settings.routeFor(inPath)
	switch {
	case err == nil && model != "":
		byPath := x.route
		x.route = x.settings.routeFor(model)
		if inPath != "" && x.settings.parted && !sameDestination(byPath, x.route) {
			return modelUnclear(body.ErrModelTwice)
		}
	case err != nil && inPath == "" && x.settings.parted:
		return modelUnclear(err)
	}
	return nil
}

// codeUnreadable is the code of a refusal because the model cannot be told.
const codeUnreadable = "model_unreadable"

// modelUnclear refuses a request of which nobody can say for which model it is.
func modelUnclear(err error) *apierror.Error {
	no := &apierror.Error{Status: http.StatusBadRequest, Param: "model", Detail: err.Error()}
	if unread, ok := errors.AsType[*wire.PassError](err); ok && (unread.Reason == wire.DuplicateKey || unread.Reason == wire.AmbiguousKey) {
		err = body.ErrModelTwice
	}
	switch {
	case errors.Is(err, body.ErrModelTwice):
		no.Code, no.Message = "model_ambiguous", "The request names its model more than once, or in a spelling that not every server reads."
		no.Hint = `Name it once, as "model".`
	case errors.Is(err, errModelInside):
		no.Code, no.Message = "model_ambiguous", "The request names its model inside, where the proxy does not look for it."
		no.Hint = `Name it at the top of the body, as "model".`
	case errors.Is(err, body.ErrModelLate):
		no.Code, no.Message = "model_too_late", "The form does not name its model in its first megabyte."
		no.Hint = `Send the field "model" before the file.`
	case errors.Is(err, errEncoding):
		no.Code, no.Message = codeUnreadable, "The proxy cannot decompress the request, and so cannot tell for which model it is."
		no.Hint = "Send it uncompressed, or compressed with gzip or zstd."
	default:
		no.Code, no.Message = codeUnreadable, "The proxy cannot read for which model the request is."
		no.Hint = "Send a JSON object, or multipart/form-data."
	}
	no.Hint += " Its models are not all served by the same upstream and key."
	return no
}

// setCredential leaves on out only the credential that may go to route, by the
// table "Whose key goes where".
func (s *settings) setCredential(out http.Header, route *Route, endpoint string) {
	clients := len(s.keys) == 0 && (route.ClientCredential || access.SameOrigin(route.Upstream, s.Default.Upstream))
	access.SetCredential(out, route.Key, clients, endpoint)
}
