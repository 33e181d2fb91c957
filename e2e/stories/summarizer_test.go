package stories

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
)

// summarizer stands in for the model that writes summaries: it answers every prompt of
// the proxy at once, with the same text.
type summarizer struct {
	requests, updates atomic.Int64 // updates: of an earlier summary
}

func (s *summarizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var prompt struct {
		Model    string
		Messages []struct{ Content string }
	}
	if json.NewDecoder(r.Body).Decode(&prompt) != nil || len(prompt.Messages) == 0 || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"this is a stand-in for a model that writes summaries"}}`, http.StatusBadRequest)
		return
	}
	s.requests.Add(1)
	if strings.Contains(prompt.Messages[len(prompt.Messages)-1].Content, "\n</summary>\n") {
		s.updates.Add(1)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "stand-in", "object": "chat.completion", "model": prompt.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": "Task: the one that the user gave first.\nState: work is under way, and some files were read.\n"},
		}},
	})
}
