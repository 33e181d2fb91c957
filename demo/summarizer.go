package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Summarizer stands in for the model that writes summaries: an HTTP handler that takes a prompt of the proxy's
// and answers at once with a text made by rule. What a model would understand it does not; everything else on
// the way is real. It is safe for concurrent use.
type Summarizer struct {
	mu     sync.Mutex
	asked  int
	bytes  int
	update int
}

// Asked is how often it was asked so far, how many of these were for what came since an earlier summary, and how
// many bytes of prompt that were.
func (s *Summarizer) Asked() (requests, updates, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.update, s.bytes
}

// longestPrompt bounds what is read of a request.
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
		http.Error(w, `{"error":{"message":"this stands in for a model that writes summaries, and for nothing else"}}`, http.StatusBadRequest)
		return
	}
	text := prompt.Messages[len(prompt.Messages)-1].Content
	s.mu.Lock()
	s.asked++
	s.bytes += len(body)
	if strings.Contains(text, "\n</summary>\n") {
		s.update++
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

// byRule writes a summary by looking at the outside of the messages only: what users said, what was called on
// which file, and what failed.
func byRule(prompt string) string {
	var users, files, failed []string
	calls, before := map[string]int{}, 0
	if _, rest, ok := strings.Cut(prompt, "<summary>\n"); ok {
		before = 1
		old, _, _ := strings.Cut(rest, "\n</summary>")
		for _, word := range strings.Fields(lineAfter(old, "Files: ")) {
			files = appendNew(files, word)
		}
	}
	_, transcript, _ := strings.Cut(prompt, "<transcript>\n")
	role := ""
	for line := range strings.Lines(transcript) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "<message role="):
			role = strings.Trim(strings.TrimPrefix(strings.Fields(line)[1], "role="), `">`)
		case strings.HasPrefix(line, "call: "):
			name, arguments, _ := strings.Cut(strings.TrimPrefix(line, "call: "), " ")
			calls[name]++
			var a struct {
				Path string `json:"path"`
			}
			if json.Unmarshal([]byte(arguments), &a) == nil && a.Path != "" {
				files = appendNew(files, a.Path)
			}
		case role == "user" && line != "" && !strings.HasPrefix(line, "<"):
			users = append(users, clip(line, 120))
		case role == "tool" && (strings.Contains(line, "FAIL") || strings.Contains(line, "rror:")):
			failed = appendNew(failed, clip(line, 100))
		}
	}
	var did []string
	for name, n := range calls {
		did = append(did, fmt.Sprintf("%s %d ×", name, n))
	}
	slices.Sort(did)
	var b strings.Builder
	line := func(head string, words []string, sep string, most int) {
		if len(words) > 0 {
			fmt.Fprintf(&b, "%s%s\n", head, strings.Join(words[max(0, len(words)-most):], sep))
		}
	}
	line("Task: ", users, " / ", 4)
	b.WriteString("State: work is under way")
	if before > 0 {
		b.WriteString(", as it was in the summary before this one")
	}
	b.WriteString(".\n")
	line("Since then: ", did, ", ", 8)
	line("Files: ", files, " ", 40)
	line("Open problems: ", failed, " / ", 3)
	return b.String()
}

func lineAfter(text, head string) string {
	_, rest, _ := strings.Cut(text, head)
	rest, _, _ = strings.Cut(rest, "\n")
	return rest
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}
