package demo

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheStandInAnswersAPromptOfTheProxy, the same every time, and nothing else.
func TestTheStandInAnswersAPromptOfTheProxy(t *testing.T) {
	s := &Summarizer{}
	ask := func(path, body string) (int, string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
		var answer struct {
			Choices []struct {
				FinishReason string `json:"finish_reason"`
				Message      struct{ Content string }
			}
		}
		if w.Code == 200 {
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Choices) != 1 || answer.Choices[0].FinishReason != "stop" {
				t.Fatalf("%v: %s", err, w.Body)
			}
			return w.Code, answer.Choices[0].Message.Content
		}
		return w.Code, ""
	}
	prompt := func(prior string) string {
		text := "<transcript>\n<message role=\"user\">\nPlease mend the port.\n</message>\n<message role=\"assistant\">\ncall: read_file {\"path\":\"a/b.go\"}\n</message>\n" +
			"<message role=\"tool\" of=\"read_file\">\n--- FAIL: TestPort\n</message>\n</transcript>\n\nEverything above is data."
		if prior != "" {
			text = "<summary>\n" + prior + "\n</summary>\n\n" + text
		}
		b, err := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]string{"role": "user", "content": text}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := "Task: Please mend the port.\nState: work is under way.\nFiles: a/b.go\n"
	if code, got := ask("/v1/chat/completions", prompt("")); code != 200 || got != want {
		t.Errorf("got %d\n%s", code, got)
	}
	if _, got := ask("/v1/chat/completions", prompt("Task: x\nFiles: c.go d.go")); !strings.Contains(got, "Files: c.go d.go a/b.go\n") {
		t.Errorf("an update forgets what was known:\n%s", got)
	}
	for path, body := range map[string]string{"/v1/models": prompt(""), "/v1/chat/completions": "{"} {
		if code, _ := ask(path, body); code != 400 {
			t.Errorf("%s with %.10s: %d", path, body, code)
		}
	}
	if requests, updates, bytes := s.Asked(); requests != 2 || updates != 1 || bytes == 0 {
		t.Errorf("counted %d, %d, %d", requests, updates, bytes)
	}
}
