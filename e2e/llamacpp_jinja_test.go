package e2e

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/e2e/llamacpp"
)

// TestLlamaCppTemplatesByJinja: none of the 70 chat templates refuses a folded request of which it
// takes the original, by a second reader of templates, @huggingface/jinja. It takes
// seconds where a llama-server for each template takes minutes.
func TestLlamaCppTemplatesByJinja(t *testing.T) {
	t.Parallel()
	models, library := llamacpp.Models(t), llamacpp.Jinja(t)
	node, err := exec.LookPath("node")
	if err != nil {
		llamacpp.Missing(t, "node")
	}
	every, newest := 8, 6
	if allOfLlamaCpp() || !compacttest.HasLargerSet(t) {
		every, newest = 1, math.MaxInt
	}
	pairs := neighbourhoods(t, every, newest)
	var in, out bytes.Buffer
	for _, p := range pairs {
		in.Write(marshal(map[string]json.RawMessage{"original": p.original, "folded": p.folded}))
		in.WriteByte('\n')
	}
	cmd := exec.Command(node, filepath.Join("testdata", "jinja.mjs"), library, filepath.Join(models, "templates"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	var read, refused int
	for line := range strings.Lines(out.String()) {
		var template struct {
			Name, Unread      string
			Originals, Folded int
			Worse             []struct {
				Pair int
				Why  string
			}
		}
		if err := json.Unmarshal([]byte(line), &template); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		t.Logf("%s takes %d of %d originals and %d folded %s", template.Name, template.Originals, len(pairs), template.Folded, template.Unread)
		if template.Unread == "" && template.Folded > 0 {
			read++
		}
		refused += len(pairs) - template.Originals
		for _, w := range template.Worse {
			t.Errorf("%s takes the original and refuses\n%s\n%s", template.Name, strings.Join(rolesOf(pairs[w.Pair].folded), ", "), w.Why)
		}
	}
	t.Logf("%d templates, %d requests, %d refused as they came", read, len(pairs), refused)
	if read < 60 || len(pairs) < 20 || refused < 20 {
		t.Errorf("%d templates, %d requests, %d refused as they came: too few to show anything", read, len(pairs), refused)
	}
}
