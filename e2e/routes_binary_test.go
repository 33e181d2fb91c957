package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// house is a proxy in front of a default upstream, and of another one which has
// the models house-* with a key of the operator's and guest-* with the client's.
type house struct {
	t           *testing.T
	p           *running
	def, own    *upstream
	fromDefault int // arrivals so far
	fromOwn     int
}

func newHouse(t *testing.T) *house {
	h := &house{t: t}
	for _, u := range []**upstream{&h.def, &h.own} {
		up, err := launch(strict.Options{})
		if err != nil {
			t.Fatal(err)
		}
		up.answer = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"taken":true}`) })
		up.serve()
		t.Cleanup(up.close)
		*u = up
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "house.yaml")
	text := fmt.Sprintf("upstream: %s\nadmin: off\nmodels:\n- {match: house-*, upstream: %s, api_key: sk-house}\n- {match: guest-*, upstream: %s, credential: client}\n", h.def.url, h.own.url, h.own.url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	if h.p, err = start(path, dir, os.Environ(), "--config", config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.p.stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// send sends one request, and returns its answer and what came of it where.
func (h *house) send(path, kind string, body []byte, headers ...string) (status int, answer string, def, own []*arrival) {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.p.URL+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := h.p.client.Do(r)
	if err != nil {
		h.t.Fatalf("%s: %v", path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	since := func(u *upstream, seen *int) (fresh []*arrival) {
		u.mu.Lock()
		defer u.mu.Unlock()
		fresh = append(fresh, u.arrived[*seen:]...)
		*seen = len(u.arrived)
		return fresh
	}
	return res.StatusCode, string(text), since(h.def, &h.fromDefault), since(h.own, &h.fromOwn)
}

var jsonEndpoints = []string{
	"/chat/completions", "/completions", "/embeddings", "/moderations", "/responses", "/responses/compact", "/responses/input_tokens",
	"/messages", "/messages/count_tokens", "/audio/speech", "/images/generations", "/images/edits",
}

var formEndpoints = []string{"/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations"}

// formOf is a form of a file of so many bytes and these fields, the first of
// them before the file.
func formOf(t *testing.T, size int, fields ...string) (kind string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	write := func(name, value string) {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if fields[0] != "" {
		write(fields[0], fields[1])
	}
	file, err := w.CreateFormFile("file", "a.wav")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write(bytes.Repeat([]byte("\r\n-\x00\xff"), size/5))
	for i := 2; i < len(fields); i += 2 {
		write(fields[i], fields[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// TestAModelsTrafficGoesWhereItsRowSays on every endpoint: to the upstream of
// the row, with the credential of the row, in the client's own bytes.
func TestAModelsTrafficGoesWhereItsRowSays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	f := func(name, path, model, kind string, body []byte, headers ...string) {
		t.Helper()
		status, answer, def, own := h.send("/v1"+path, kind, body, append(headers, "Authorization", "Bearer sk-client",
			"Anthropic-Version", "2023-06-01", "Anthropic-Beta", "a,b")...)
		if status != 200 || answer != `{"taken":true}` {
			t.Errorf("%s: %d %s", name, status, answer)
			return
		}
		right, wrong := own, def
		if !strings.HasPrefix(model, "house-") && !strings.HasPrefix(model, "guest-") {
			right, wrong = def, own
		}
		if len(right) != 1 || len(wrong) != 0 {
			t.Errorf("%s: %d at its upstream, %d at the other", name, len(right), len(wrong))
			return
		}
		got, auth, key := right[0], "Bearer sk-client", ""
		if strings.HasPrefix(model, "house-") {
			if auth = "Bearer sk-house"; strings.HasPrefix(path, "/messages") {
				auth, key = "", "sk-house"
			}
		}
		if a := strings.Join(got.header["Authorization"], "|"); a != auth || strings.Join(got.header["X-Api-Key"], "|") != key {
			t.Errorf("%s: carried %q, %q", name, a, got.header["X-Api-Key"])
		}
		if got.uri != "/v1"+path || sha256.Sum256(got.body) != sha256.Sum256(body) || got.header.Get("Content-Type") != kind ||
			got.header.Get("Anthropic-Version") != "2023-06-01" || got.header.Get("Anthropic-Beta") != "a,b" {
			t.Errorf("%s: %s, %d bytes of %d, %v", name, got.uri, len(got.body), len(body), got.header)
		}
	}
	for _, model := range []string{"house-1", "guest-1", "gpt-4o", ""} {
		field := ""
		if model != "" {
			field = fmt.Sprintf(`,"mod\u0065l" : %q`, model)
		}
		text := []byte(`{"input":"\ud800 é","messages": [ {"role":"user","content":"hi"}],"n":1e0` + field + `}`)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(text)
		_ = z.Close()
		for _, path := range jsonEndpoints {
			f(path+" "+model, path, model, "application/json", text)
			f(path+" "+model+" gzip", path, model, "application/json", packed.Bytes(), "Content-Encoding", "gzip")
		}
		for _, path := range formEndpoints {
			for _, size := range []int{10, 300_000} {
				name := fmt.Sprint(path, " ", model, " ", size)
				if model == "" {
					kind, body := formOf(t, size, "prompt", "model", "language", "en")
					f(name, path, model, kind, body)
					continue
				}
				kind, body := formOf(t, size, "", "", "model", model)
				f(name+", file first", path, model, kind, body)
				kind, body = formOf(t, 10*size, "model", model, "language", "en")
				f(name+", model first", path, model, kind, body)
			}
		}
	}
	const encoded = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename*=utf-8''caf%C3%A9.wav\r\n\r\na\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nhouse-1\r\n--x--\r\n"
	f("a file's name that is encoded", "/audio/transcriptions", "house-1", "multipart/form-data; boundary=x", []byte(encoded))
	f("responses below", "/responses/resp_1/cancel", "gpt-4o", "application/json", []byte(`{}`))
	f("an unknown path, JSON", "/rerank", "guest-1", "application/json", []byte(`{"model":"guest-1"}`))
	f("an unknown path, no model", "/rerank", "", "application/json", []byte(`[1]`))
	f("an unknown path", "/files", "", "application/octet-stream", []byte(`[{"model":"house-1"}]`))
}

// TestAModelThatCannotBeToldIsRefused: it never ends at the default upstream
// with the client's key.
func TestAModelThatCannotBeToldIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	f := func(name, path, code, kind string, body []byte, headers ...string) {
		t.Helper()
		status, answer, def, own := h.send(path, kind, body, append(headers, "Authorization", "Bearer sk-client")...)
		var e struct {
			Error struct{ Code, Param, Message string }
		}
		if err := json.Unmarshal([]byte(answer), &e); err != nil || status != 400 || e.Error.Code != code || e.Error.Param != "model" && !strings.HasPrefix(path, "/v1/messages") || e.Error.Message == "" {
			t.Errorf("%s %s: %d %s", path, name, status, answer)
		}
		if len(def)+len(own) != 0 {
			t.Errorf("%s %s: %d at the default upstream, %d at the other", path, name, len(def), len(own))
		}
	}
	const isJSON, chat = "application/json", `"messages":[{"role":"user","content":"hi"}]`
	for _, path := range jsonEndpoints {
		path = "/v1" + path
		f("twice", path, "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o",`+chat+`,"model":"house-1"}`))
		f("twice, escaped", path, "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o",`+chat+`,"mod\u0065l":"house-1"}`))
		f("twice, capitals", path, "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o",`+chat+`,"Model":"house-1"}`))
		f("capitals", path, "model_ambiguous", isJSON, []byte(`{"MODEL":"house-1",`+chat+`}`))
		f("no JSON", path, "model_unreadable", isJSON, []byte(`{"model":"house-1",`+chat))
		f("two texts", path, "model_unreadable", isJSON, []byte(`{"model":"gpt-4o",`+chat+`}{"model":"house-1"}`))
		f("brotli", path, "model_unreadable", isJSON, []byte("\x0b\x02\x80x\x03"), "Content-Encoding", "br")
		f("twice compressed", path, "model_unreadable", isJSON, []byte("x"), "Content-Encoding", "gzip, gzip")
		f("broken gzip", path, "model_unreadable", isJSON, []byte("\x1f\x8bx"), "Content-Encoding", "gzip")
		f("mode off", path, "model_unreadable", isJSON, []byte("\x0b\x02\x80x\x03"), "Content-Encoding", "br", "X-Laconic-Mode", "off")
	}
	for _, path := range append(formEndpoints, "/embeddings") {
		path = "/v1" + path
		kind, body := formOf(t, 10, "model", "gpt-4o", "model", "house-1")
		f("form, twice", path, "model_ambiguous", kind, body)
		kind, body = formOf(t, 10, "model", "gpt-4o", "Model", "house-1")
		f("form, capitals", path, "model_ambiguous", kind, body)
		f("form, another boundary", path, "model_unreadable", "multipart/form-data; boundary=x", body)
		f("form, no boundary", path, "model_unreadable", "multipart/form-data", body)
		f("form, half a type", path, "model_unreadable", "multipart/form-data; boundary=\"", body)
		f("form, two types", path, "model_unreadable", kind, body, "Content-Type", isJSON)
		f("form, compressed", path, "model_unreadable", kind, body, "Content-Encoding", "gzip")
		f("form, cut off", path, "model_unreadable", kind, body[:len(body)-60])
		named := func(disposition, more string) []byte {
			return []byte("--x\r\nContent-Disposition: form-data; " + disposition + "\r\n" + more + "\r\nhouse-1\r\n--x--\r\n")
		}
		f("form, a file", path, "model_unreadable", "multipart/form-data; boundary=x", named(`name="model"; filename="a"`, ""))
		f("form, encoded", path, "model_unreadable", "multipart/form-data; boundary=x", named(`name="model"`, "Content-Transfer-Encoding: quoted-printable\r\n"))
		f("form, two names", path, "model_unreadable", "multipart/form-data; boundary=x", named(`name="x"; name="model"`, ""))
		f("form, a name in two spellings", path, "model_unreadable", "multipart/form-data; boundary=x", named(`name="model"; name*=utf-8''x`, ""))
		f("form, two dispositions", path, "model_unreadable", "multipart/form-data; boundary=x", named(`name="x"`, "Content-Disposition: form-data; name=\"model\"\r\n"))
		kind, body = formOf(t, 1<<20, "", "", "model", "house-1")
		f("form, behind a megabyte", path, "model_too_late", kind, body)
	}
	f("path and body", "/openai/deployments/house-1/chat/completions", "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o",`+chat+`}`))
	f("body and path", "/openai/deployments/gpt-4o/embeddings", "model_ambiguous", isJSON, []byte(`{"model":"house-1"}`))

	// Named again far behind the first megabyte: nothing of it was sent.
	kind, body := formOf(t, 3<<20, "model", "gpt-4o", "model", "house-1")
	f("form, named again", "/v1/audio/transcriptions", "model_ambiguous", kind, body)
	f("an unknown path, twice", "/v1/rerank", "model_ambiguous", isJSON, []byte(`{"model":"gpt-4o","model":"house-1"}`))

	// What is not served with the key of the row is not sent elsewhere either.
	status, answer, def, own := h.send("/v1/rerank", isJSON, []byte(`{"model":"house-1"}`), "Authorization", "Bearer sk-client")
	if status != 404 || len(def)+len(own) != 0 {
		t.Errorf("an unknown path: %d %s, %d and %d at the upstreams", status, answer, len(def), len(own))
	}
}

// TestOddSpellingsOfAPathHideNoModel: they are served by the row of the model,
// or refused where that has a key of its own.
func TestOddSpellingsOfAPathHideNoModel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, path := range []string{
		"/v1/ch%61t/completions", "/v1/chat%2fcompletions", "/V1/Chat/Completions", "/v1/chat/completions;x=1", "/v1//chat//completions", "/v1/chat/completions/",
		"/v1/%65mbeddings", "/v1/Embeddings", "/v1/embeddings;x", "//v1/embeddings", "/v1/responses/", "/v1/messages%2fcount_tokens", "/api/v1/messages",
	} {
		body := func(model string) []byte {
			return fmt.Appendf(nil, `{"model":%q,"messages":[{"role":"user","content":"hi"}]}`, model)
		}
		status, answer, def, own := h.send(path, "application/json", body("guest-1"), "Authorization", "Bearer sk-client")
		if status != 200 || len(def) != 0 || len(own) != 1 || !bytes.Equal(own[0].body, body("guest-1")) {
			t.Errorf("%s: %d %s, %d at the default upstream, %d at its own", path, status, answer, len(def), len(own))
		}
		status, answer, def, own = h.send(path, "application/json", body("house-1"), "Authorization", "Bearer sk-client")
		if status != 404 || !strings.Contains(answer, `"path_not_served"`) || len(def)+len(own) != 0 {
			t.Errorf("%s, with a key: %d %s, %d at the default upstream, %d at its own", path, status, answer, len(def), len(own))
		}
	}
	// Azure's
	for _, path := range []string{"chat/completions", "embeddings", "images/generations", "completions"} {
		for _, c := range []struct{ model, body, auth string }{
			{"house-1", `{"messages":[{"role":"user","content":"hi"}]}`, "sk-house"},
			{"house-1", `{"model":"house-2","messages":[{"role":"user","content":"hi"}]}`, "sk-house"},
			{"guest-1", `{"messages":[{"role":"user","content":"hi"}]}`, "sk-client"},
		} {
			uri := "/openai/deployments/" + c.model + "/" + path + "?api-version=1"
			status, answer, def, own := h.send(uri, "application/json", []byte(c.body), "Api-Key", "sk-client")
			if status != 200 || len(def) != 0 || len(own) != 1 || own[0].header.Get("Api-Key") != c.auth || own[0].uri != uri || own[0].header.Get("Authorization") != "" {
				t.Errorf("%s: %d %s, %d at the default upstream, %d at its own", uri, status, answer, len(def), len(own))
			}
		}
	}
}

// TestWhereRowsGoToOnePlaceNothingIsRead: bodies stay streamed, whatever they
// hold.
func TestWhereRowsGoToOnePlaceNothingIsRead(t *testing.T) {
	t.Parallel()
	u, err := launch(strict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u.serve()
	t.Cleanup(u.close)
	u.answer = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "taken") })
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "rows.yaml")
	if err := os.WriteFile(config, []byte("models:\n- {match: house-*, budget: 1000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := start(path, dir, os.Environ(), "--config", config, "--upstream", u.url, "--admin", "off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.stop() })
	for i, body := range []string{`{"model":"house-1","model":"gpt-4o"}`, "no JSON", ""} {
		for k, e := range []string{"br", "identity"} {
			r, err := http.NewRequest(http.MethodPost, p.URL+"/v1/embeddings", io.NopCloser(strings.NewReader(body))) // without a length
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Encoding", e)
			res, err := p.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if a, ok := u.nth(2*i + k + 1); res.StatusCode != 200 || !ok || string(a.body) != body {
				t.Errorf("%q: %d, %q", body, res.StatusCode, a.body)
			}
		}
	}
}
