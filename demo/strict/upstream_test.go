package strict_test

import (
	"context"
	"io"
	"net/http"
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
	if err != nil || len(vectors.Data) != 1 || len(vectors.Data[0].Embedding) != 2 {
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
	f("GET", "/models", "Bearer sk-other", "", 401, "invalid_api_key")
	f("POST", "/chat/completions", key, chat(user), 200, "This is a short answer")
	http.DefaultClient.CloseIdleConnections()
}
