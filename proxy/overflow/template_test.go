package overflow

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestEveryTemplate reads bodies of testdata/templates: a line with what the
// template asks for, a line with the status, the body. Each reads the same as the
// first event of a stream under status 200, and none as a refusal for size.
func TestEveryTemplate(t *testing.T) {
	files, err := filepath.Glob("testdata/templates/*.txtar")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			want, rest, _ := strings.Cut(string(f.Data), "\n")
			head, body, _ := strings.Cut(rest, "\n")
			status, err := strconv.Atoi(head)
			if err != nil || !json.Valid([]byte(body)) {
				t.Fatalf("%s %s: %v, or no JSON", file, f.Name, err)
			}
			said := Read(status, []byte(body))
			if got := said.Template(); got.String() != want {
				t.Errorf("%s: %q, want %q", f.Name, got, want)
			}
			if r := said.Size(); r.Kind != None {
				t.Errorf("%s is also read as %v", f.Name, r)
			}
			if seen[want] = true; want == "" || body[0] != '{' || !strings.Contains(body, `"error":`) {
				continue
			}
			if begins, data := FirstEvent([]byte("data: "+strings.TrimSpace(body)+"\n\n"), false, nil); begins != Error || Read(200, data).Template().String() != want {
				t.Errorf("%s as first event: %v", f.Name, begins)
			}
		}
	}
	for _, row := range templates {
		if row.is.OfThinking() {
			continue // thinking_test.go of the proxy has its sentences
		}
		if !seen[row.name] {
			t.Errorf("row %q has no body in testdata", row.name)
		}
		if row.hint == "" || row.is.String() != row.name || row.is.Hint() != row.hint {
			t.Errorf("row %q is not found, or says nothing to the operator", row.name)
		}
	}
}
