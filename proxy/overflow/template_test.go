package overflow

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// TestEveryTemplate reads bodies of testdata/templates: a line with what the
// template asks for, a line with the status, the body. Each reads the same as the
// first event of a stream under status 200, and none as a refusal for size.
func TestEveryTemplate(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range samples(t, "testdata/templates", 2) {
		if !json.Valid(s.body) {
			t.Fatalf("%s: no JSON", s.name)
		}
		said := Read(s.status, s.body)
		if got := said.Template(); got.String() != s.verdict {
			t.Errorf("%s: %q, want %q", s.name, got, s.verdict)
		}
		if r := said.Size(); r.Kind != None {
			t.Errorf("%s is also read as %v", s.name, r)
		}
		if seen[s.verdict] = true; s.verdict == "" || s.body[0] != '{' || !bytes.Contains(s.body, []byte(`"error":`)) {
			continue
		}
		if data, _ := FirstEvent(slices.Concat([]byte("data: "), bytes.TrimSpace(s.body), []byte("\n\n")), false, nil); data == nil || Read(200, data).Template().String() != s.verdict {
			t.Errorf("%s as first event: %s", s.name, data)
		}
	}
	for is := SecondSystem; int(is) < len(templates); is++ { // thinking_test.go of the proxy has the sentences of the others
		row := templates[is]
		if !seen[row.name] {
			t.Errorf("row %q has no body in testdata", row.name)
		}
		if row.hint == "" || is.String() != row.name || is.Hint() != row.hint {
			t.Errorf("row %q is not found, or says nothing to the operator", row.name)
		}
	}
}
