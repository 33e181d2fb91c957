package strict_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"laconic/demo/strict"
)

func TestOtherRoutes(t *testing.T) {
	_, srv, client := serve(t, strict.Options{Key: "sk-test"})
	models, err := client.ListModels(context.Background())
	if err != nil || len(models.Models) != 2 || models.Models[0].ID != "gpt-4o" {
		t.Errorf("models: %+v, %v", models, err)
	}
	vectors, err := client.CreateEmbeddings(context.Background(), openai.EmbeddingRequest{Input: []string{"a"}, Model: "e"})
	if err != nil || len(vectors.Data) != 1 || len(vectors.Data[0].Embedding) != 4 {
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
	f("GET", "/models", key, "", 200, `"id": "gpt-4o"`)
	f("GET", "/models", "", "", 401, "You didn't provide an API key.")
	f("GET", "/models", "Bearer sk-other", "", 401, "invalid_api_key")
	f("POST", "/chat/completions", key, chat(user), 200, "This is a short answer")
	http.DefaultClient.CloseIdleConnections()
}

func TestGoClientSeesOpenAIErrors(t *testing.T) {
	_, _, client := serve(t, strict.Options{Limit: 5})
	_, err := client.CreateChatCompletionStream(context.Background(), ask1("hello"))
	var api *openai.APIError
	if !errors.As(err, &api) || api.HTTPStatusCode != 400 || api.Code != "context_length_exceeded" || api.Type != "invalid_request_error" || *api.Param != "messages" {
		t.Errorf("got %+v", api)
	}
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
	up := strict.New(strict.Options{})
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
	f("POST", "/v1/chat/completions", 100_000, 400)
	f("POST", "/v1/nothing", 100_000, 404)
	f("GET", "/v1/chat/completions", 5, 405)
}
