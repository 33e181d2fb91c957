package strict_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

func TestOtherRoutes(t *testing.T) {
	up, srv, client := serve(t, strict.Options{Key: "sk-test", Models: []string{"mine"}})
	models, err := client.ListModels(context.Background())
	if err != nil || len(models.Models) != 1 || models.Models[0].ID != "mine" {
		t.Errorf("models: %+v, %v", models, err)
	}
	vectors, err := client.CreateEmbeddings(context.Background(), openai.EmbeddingRequest{Input: []string{"a", "b"}, Model: "e"})
	if err != nil || len(vectors.Data) != 2 || vectors.Data[1].Index != 1 || len(vectors.Data[1].Embedding) != 4 {
		t.Errorf("embeddings: %+v, %v", vectors, err)
	}

	f := func(method, path, key, body string, wantStatus int, wantText string) {
		t.Helper()
		req, _ := http.NewRequest(method, srv.URL+path, strings.NewReader(body))
		if key != "" {
			req.Header.Set("Authorization", key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != wantStatus || !strings.Contains(string(got), wantText) {
			t.Errorf("got %d %s, want %d %s", resp.StatusCode, got, wantStatus, wantText)
		}
	}
	key := "Bearer sk-test"
	f("GET", "/v1/files", key, "", 404, "Invalid URL (GET /v1/files)")
	f("GET", "/v1/chat/completions", key, "", 405, "Only POST requests are accepted.")
	f("POST", "/models", key, "", 405, "Only GET requests are accepted.")
	f("GET", "/models", key, "", 200, `"id": "mine"`)
	f("GET", "/models", "", "", 401, "You didn't provide an API key.")
	f("GET", "/models", "Bearer sk-other", "", 401, "invalid_api_key")
	f("POST", "/chat/completions", key, chat(user), 200, "This is a short answer")
	f("POST", "/v1/embeddings", key, "{}", 400, "Missing required parameter: 'input'.")
	http.DefaultClient.CloseIdleConnections()

	for _, s := range up.Requests() {
		if s.Status == 0 {
			t.Errorf("no status for %s %s", s.Method, s.Path)
		}
	}
}

func TestGoClientSeesOpenAIErrors(t *testing.T) {
	_, _, client := serve(t, strict.Options{Limit: 5})
	_, err := client.CreateChatCompletionStream(context.Background(), ask1("hello"))
	var api *openai.APIError
	if !errors.As(err, &api) || api.HTTPStatusCode != 400 || api.Code != "context_length_exceeded" || api.Type != "invalid_request_error" || *api.Param != "messages" {
		t.Errorf("got %+v", api)
	}
}

func TestRequestsAreRecordedAsTheyArrived(t *testing.T) {
	up := strict.New(strict.Options{})
	body := `{ "model":"m",  "messages":[` + result("x") + "] }\n"
	r := httptest.NewRequest("POST", "/v1/chat/completions?api-version=1", strings.NewReader(body))
	r.Header.Set("X-Mine", "1")
	up.ServeHTTP(httptest.NewRecorder(), r)
	s, _ := up.Last()
	if string(s.Body) != body || s.Path != "/v1/chat/completions?api-version=1" || s.Method != "POST" ||
		s.Header.Get("x-mine") != "1" || s.Status != 400 || s.Refusal == nil || s.Refusal.Kind != strict.KindPairs {
		t.Errorf("got %+v", s)
	}
}

func TestTheRecordIsBounded(t *testing.T) {
	up := strict.New(strict.Options{Keep: 3, KeepBytes: 100})
	send := func(n int) {
		up.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(strings.Repeat("x", n))))
	}
	f := func(want ...int) {
		t.Helper()
		var got []int
		for _, s := range up.Requests() {
			got = append(got, len(s.Body))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("kept %v, want %v", got, want)
		}
	}
	f()
	send(1)
	send(2)
	send(3)
	f(1, 2, 3)
	send(4)
	f(2, 3, 4)
	send(95)
	f(4, 95)
	send(500) // the newest stays, whatever its size
	f(500)
	send(1)
	f(1)
	if up.Total() != 7 {
		t.Errorf("total %d, want 7", up.Total())
	}
	up.Forget()
	f()
}

// counted says how much of a body was read.
type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestEveryBodyIsDrained(t *testing.T) {
	up := strict.New(strict.Options{MaxBody: 10})
	f := func(method, path string, size, wantStatus int) {
		t.Helper()
		c := &counted{r: strings.NewReader(strings.Repeat("x", size))}
		r := httptest.NewRequest(method, path, c)
		rec := httptest.NewRecorder()
		up.ServeHTTP(rec, r)
		if c.n != size || rec.Code != wantStatus {
			t.Errorf("%s %s: read %d of %d, status %d, want %d", method, path, c.n, size, rec.Code, wantStatus)
		}
	}
	f("POST", "/v1/chat/completions", 10, 400)
	f("POST", "/v1/chat/completions", 100_000, 413)
	f("POST", "/v1/nothing", 100_000, 404)
	f("GET", "/v1/chat/completions", 5, 405)
}

func TestABrokenUploadIsRecorded(t *testing.T) {
	up := strict.New(strict.Options{})
	r := httptest.NewRequest("POST", "/v1/chat/completions", io.MultiReader(strings.NewReader(`{"mod`), broken{}))
	up.ServeHTTP(httptest.NewRecorder(), r)
	if s, _ := up.Last(); !s.Left || string(s.Body) != `{"mod` {
		t.Errorf("got %+v", s)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
