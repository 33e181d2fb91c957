package proxy

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"strings"
	"testing"
)

// house is a proxy in front of a default upstream, and of another one that has the
// models house-* with a key of the operator's and guest-* with the client's.
func house(t *testing.T) (p *running, def, own *upstream) {
	def, own = newUpstream(t, nil), newUpstream(t, nil)
	p = inFrontOf(t, def, func(o *Options) {
		guest := o.Default
		guest.Match, guest.Upstream, guest.ClientCredential = "guest-*", own.base(t, "/v1"), true
		ours := guest
		ours.Match, ours.Key, ours.ClientCredential = "house-*", "sk-house", false
		o.Routes = []*Route{&ours, &guest}
		o.RouteFor = func(model string) *Route {
			switch {
			case strings.HasPrefix(model, "house-"):
				return &ours
			case strings.HasPrefix(model, "guest-"):
				return &guest
			}
			return nil
		}
	})
	return p, def, own
}

var (
	jsonEndpoints = []string{
		"/chat/completions", "/completions", "/embeddings", "/moderations", "/responses", "/responses/compact", "/responses/input_tokens",
		"/messages", "/messages/count_tokens", "/audio/speech", "/images/generations", "/images/edits",
	}
	formEndpoints = []string{"/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations"}
)

// formOf returns a form of a file of so many bytes and these fields, the first of
// them before the file.
func formOf(t *testing.T, size int, fields ...string) (kind string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if fields[i] != "" {
			_ = w.WriteField(fields[i], fields[i+1])
		}
		if i == 0 {
			_, _ = must(w.CreateFormFile("file", "a.wav")).Write(bytes.Repeat([]byte("\r\n-\x00\xff"), size/5))
		}
	}
	_ = w.Close()
	return w.FormDataContentType(), b.Bytes()
}

// TestAModelsTrafficGoesWhereItsRowSays on every endpoint: to the upstream of the row,
// with the credential of the row, in the client's own bytes.
func TestAModelsTrafficGoesWhereItsRowSays(t *testing.T) {
	p, def, own := house(t)
	f := func(path, model, kind string, body []byte, headers ...string) {
		t.Helper()
		right, wrong := def, own
		if strings.HasPrefix(model, "house-") || strings.HasPrefix(model, "guest-") {
			right, wrong = own, def
		}
		n, others := len(right.requests()), len(wrong.requests())
		res := p.do("POST", path, bytes.NewReader(body), append(headers, "Content-Type", kind, "Authorization", "Bearer sk-client")...)
		if res.StatusCode != 200 || len(right.requests()) != n+1 || len(wrong.requests()) != others {
			t.Errorf("%s %q: %d %s", path, model, res.StatusCode, res.body)
			return
		}
		got, auth, key := right.requests()[n], "Bearer sk-client", ""
		if strings.HasPrefix(model, "house-") {
			if auth = "Bearer sk-house"; strings.HasPrefix(path, "/v1/messages") {
				auth, key = "", "sk-house"
			}
		}
		if a := strings.Join(got.Header["Authorization"], "|"); a != auth || strings.Join(got.Header["X-Api-Key"], "|") != key {
			t.Errorf("%s %q: carried %q, %q", path, model, a, got.Header["X-Api-Key"])
		}
		if got.URI != path || !bytes.Equal(got.Body, body) || got.Header.Get("Content-Type") != kind {
			t.Errorf("%s %q: %s, %d bytes of %d, %v", path, model, got.URI, len(got.Body), len(body), got.Header)
		}
	}
	for _, model := range []string{"house-1", "guest-1", "gpt-4o", ""} {
		field := ""
		if model != "" {
			field = fmt.Sprintf(`,"mod\u0065l" : %q`, model)
		}
		text := []byte(`{"input":"\ud800 é","messages": [ {"role":"user","content":"hi"}],"n":1e0` + field + `}`)
		for _, path := range jsonEndpoints {
			f("/v1"+path, model, "application/json", text)
			f("/v1"+path, model, "application/json", gzipped(t, text), "Content-Encoding", "gzip")
		}
		for _, path := range formEndpoints {
			for _, size := range []int{10, 300_000} {
				name := map[bool]string{true: "other", false: "model"}[model == ""]
				kind, body := formOf(t, size, "", "", name, model)
				f("/v1"+path, model, kind, body)
				kind, body = formOf(t, 10*size, name, model, "language", "en")
				f("/v1"+path, model, kind, body)
			}
		}
	}
	f("/v1/audio/transcriptions", "house-1", "multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename*=utf-8''caf%C3%A9.wav\r\n\r\na\r\n"+
		"--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nhouse-1\r\n--x--\r\n"))
	f("/v1/rerank", "guest-1", "application/json", []byte(`{"model":"guest-1"}`))
	f("/v1/chat/completions", "guest-1", "application/json", []byte(`{"model":"guest-1","messages":[]}`)) // it cannot be read
	if res := p.do("GET", "/v1/models/guest-2", nil); res.StatusCode != 200 || own.requests()[len(own.requests())-1].URI != "/v1/models/guest-2" {
		t.Errorf("the path of a model: %d", res.StatusCode)
	}
	if res := p.do("GET", "/v1/x", strings.NewReader(`{"model":"guest-1"}`)); res.StatusCode != 200 || own.requests()[len(own.requests())-1].URI != "/v1/x" {
		t.Errorf("GET with a body: %d", res.StatusCode)
	}
	f("/v1beta/models/guest-1:generateContent", "guest-1", "application/json", []byte(`{"contents":[]}`))
	f("/v1/engines/guest-1/completions", "guest-1", "application/json", []byte(`{"prompt":"x"}`))
	f("/v1/rerank", "", "application/json", []byte(`[1]`))
	f("/v1/evals", "", "application/json", []byte(`{"name":"guest-1","source":{"model":"gpt-4o"},"text":"\"model\": \"guest-1\""}`))
	f("/v1/files", "", "application/octet-stream", []byte(`[{"model":"house-1"}]`))
	// Azure's have it in the path, whatever the body says.
	for _, path := range []string{"chat/completions", "embeddings"} {
		uri := "/openai/deployments/house-1/" + path + "?api-version=1"
		res := p.do("POST", uri, strings.NewReader(`{"model":"house-2","messages":[{"role":"user","content":"hi"}]}`), "Content-Type", "application/json", "Api-Key", "sk-client")
		all := own.requests()
		if got := all[len(all)-1]; res.StatusCode != 200 || got.URI != uri || got.Header.Get("Api-Key") != "sk-house" || got.Header.Get("Authorization") != "" {
			t.Errorf("%s: %d %s %v", uri, res.StatusCode, got.URI, got.Header)
		}
	}
}

// TestAModelThatCannotBeToldIsRefused: it never ends at the default upstream with the
// client's key.
func TestAModelThatCannotBeToldIsRefused(t *testing.T) {
	p, def, own := house(t)
	f := func(path, code, kind string, body []byte, headers ...string) {
		t.Helper()
		res := p.do("POST", path, bytes.NewReader(body), append(headers, "Content-Type", kind, "Authorization", "Bearer sk-client")...)
		if res.StatusCode != 400 || !strings.Contains(string(res.body), `"`+code+`"`) || len(def.requests())+len(own.requests()) != 0 {
			t.Errorf("%s %.200q: %d %s, and %d arrived", path, body, res.StatusCode, res.body, len(def.requests())+len(own.requests()))
		}
	}
	const isJSON, chat, x = "application/json", `"messages":[{"role":"user","content":"hi"}]`, "multipart/form-data; boundary=x"
	for _, path := range jsonEndpoints {
		path = "/v1" + path
		f(path, "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o",`+chat+`,"model":"house-1"}`))
		f(path, "model_ambiguous", isJSON, []byte(`{"MODEL":"house-1",`+chat+`}`))
		f(path, "model_unreadable", isJSON, []byte(`{"model":"house-1",`+chat))
		f(path, "model_unreadable", isJSON, []byte("\x0b\x02\x80x\x03"), "Content-Encoding", "br")
		f(path, "model_unreadable", isJSON, []byte("x"), "Content-Encoding", "gzip, gzip")
		f(path, "model_unreadable", isJSON, []byte("\x1f\x8bx"), "Content-Encoding", "gzip")
		f(path, "model_unreadable", isJSON, []byte("\x0b\x02\x80x\x03"), "Content-Encoding", "br", "X-Laconic-Mode", "off")
	}
	for _, path := range append(formEndpoints, "/embeddings") {
		path = "/v1" + path
		kind, body := formOf(t, 10, "model", "gpt-4o", "model", "house-1")
		f(path, "model_ambiguous", kind, body)
		kind, body = formOf(t, 10, "model", "gpt-4o", "Model", "house-1")
		f(path, "model_ambiguous", kind, body)
		f(path, "model_unreadable", x, body) // another boundary
		f(path, "model_unreadable", "multipart/form-data", body)
		f(path, "model_unreadable", "multipart/form-data; boundary=\"", body)
		f(path, "model_unreadable", kind, body, "Content-Type", isJSON)
		f(path, "model_unreadable", kind, body, "Content-Encoding", "gzip")
		f(path, "model_unreadable", kind, body[:len(body)-60])
		for _, part := range []string{
			"name=\"model\"; filename=\"a\"", "name=\"model\"\r\nContent-Transfer-Encoding: quoted-printable", "name=\"x\"; name=\"model\"",
			"name=\"model\"; name*=utf-8''x", "name=\"x\"\r\nContent-Disposition: form-data; name=\"model\"",
		} {
			f(path, "model_unreadable", x, []byte("--x\r\nContent-Disposition: form-data; "+part+"\r\n\r\nhouse-1\r\n--x--\r\n"))
		}
		kind, body = formOf(t, 1<<20, "", "", "model", "house-1")
		f(path, "model_too_late", kind, body)
		kind, body = formOf(t, 3<<20, "model", "gpt-4o", "model", "house-1") // named again far behind the first megabyte
		f(path, "model_ambiguous", kind, body)
	}
	f("/openai/deployments/house-1/chat/completions", "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o",`+chat+`}`))
	f("/openai/deployments/gpt-4o/embeddings", "model_ambiguous", isJSON, []byte(`{"model":"house-1"}`))
	f("/v1/rerank", "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o","model":"house-1"}`))
	// Inside the body of a path that is not known, also in the type that curl states.
	for _, body := range []string{
		`{"requests":[{"params":{"model":"gpt-4o"}},{"params":{"model":"guest-1"}}]}`, `{"session":{"model" : "guest-1"}}`, `{"model":["guest-1"]}`,
		`{"model":{"id": "guest-1"}}`, ` [{"model":"gu\u0065st-1"}]`,
	} {
		f("/v1/messages/batches", "model_ambiguous", isJSON, []byte(body))
		f("/v1/realtime/sessions", "model_ambiguous", "application/x-www-form-urlencoded", []byte(body))
	}
	f("/api/copy", "model_ambiguous", isJSON, []byte(`{"source":"guest-1","destination":"x"}`))
	f("/api/show", "model_ambiguous", isJSON, []byte(`{"name":"guest-1"}`))
	// A path that is not served with the key of the row is sent nowhere, in any spelling.
	for _, path := range []string{"/v1/rerank", "/v1/ch%61t/completions", "/V1/Chat/Completions", "/v1/chat/completions;x=1", "/v1/%65mbeddings", "/v1/responses/", "/v1/messages%2fcount_tokens"} {
		res := p.do("POST", path, strings.NewReader(`{"model":"house-1",`+chat+`}`), "Content-Type", isJSON, "Authorization", "Bearer sk-client")
		if res.StatusCode != 404 || len(def.requests())+len(own.requests()) != 0 {
			t.Errorf("%s: %d %s, and %d arrived", path, res.StatusCode, res.body, len(def.requests())+len(own.requests()))
		}
	}
}

// TestWhereRowsGoToOnePlaceNothingIsRead: bodies stay streamed, whatever they hold.
func TestWhereRowsGoToOnePlaceNothingIsRead(t *testing.T) {
	u, p := plain(t, withRow(func(r *Route) { r.Match, r.Limits.Budget = "house-*", 500 }))
	for _, body := range []string{`{"model":"house-1","model":"gpt-4o"}`, "no JSON", ""} {
		for _, encoding := range []string{"br", "identity"} {
			n := len(u.requests())
			if res := p.do("POST", "/v1/embeddings", strings.NewReader(body), "Content-Encoding", encoding); res.StatusCode != 200 || string(u.requests()[n].Body) != body {
				t.Errorf("%s %q: %d", encoding, body, res.StatusCode)
			}
		}
	}
}
