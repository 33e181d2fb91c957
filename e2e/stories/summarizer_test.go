package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Summarizer replaces the model that writes summaries: an HTTP handler that
// answers a prompt of the proxy at once, with a text made by rule. It is safe for
// concurrent use.
type Summarizer struct {
	mu                       sync.Mutex
	requests, updates, bytes int
}

// Asked returns the number of requests, how many of them update an earlier
// summary, and the bytes of all prompts.
func (s *Summarizer) Asked() (requests, updates, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.updates, s.bytes
}

// longestPrompt is how many bytes of a request are read.
const longestPrompt = 4 << 20

func (s *Summarizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, longestPrompt))
	var prompt struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err != nil || json.Unmarshal(body, &prompt) != nil || len(prompt.Messages) == 0 || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"this is a stand-in for a model that writes summaries, and for nothing else"}}`, http.StatusBadRequest)
		return
	}
	text := prompt.Messages[len(prompt.Messages)-1].Content
	s.mu.Lock()
	s.requests++
	s.bytes += len(body)
	if strings.Contains(text, "\n</summary>\n") {
		s.updates++
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "stand-in", "object": "chat.completion", "model": prompt.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": byRule(text)},
		}},
	})
}

// The patterns that byRule searches a prompt for.
var (
	asked = regexp.MustCompile(`(?m)^<message role="user".*>\n(.+)$`)
	named = regexp.MustCompile(`(?m)^call: .*"path": ?"([^"]+)"|^Files: (.+)$`)
)

// byRule returns a summary with what users said and which files calls named.
func byRule(prompt string) string {
	all := func(pattern *regexp.Regexp, most int) (found []string) {
		for _, m := range pattern.FindAllStringSubmatch(prompt, -1) {
			if text := clip(m[1]+strings.Join(m[2:], ""), 400); !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
		return found[max(0, len(found)-most):]
	}
	return "Task: " + strings.Join(all(asked, 4), " / ") + "\nState: work is under way.\nFiles: " + strings.Join(all(named, 40), " ") + "\n"
}
