package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"laconic/compact/stage"
)

func TestPoliciesAreListed(t *testing.T) {
	var out, said bytes.Buffer
	if code := run(context.Background(), []string{"policies"}, strings.NewReader(""), &out, &said); code != 0 || said.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(stage.Policies) {
		t.Fatalf("%d lines for %d policies:\n%s", len(lines), len(stage.Policies), &out)
	}
	for i, p := range stage.Policies {
		if !strings.HasPrefix(lines[i], p.Name+" ") || !strings.Contains(lines[i], p.Summary) || !strings.HasSuffix(lines[i], p.KnownFrom) {
			t.Errorf("%s: %s", p.Name, lines[i])
		}
	}
}

func TestPoliciesAreListedAsJSON(t *testing.T) {
	var out, said bytes.Buffer
	if code := run(context.Background(), []string{"policies", "--json"}, strings.NewReader(""), &out, &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	var all []struct {
		Name      string
		KnownFrom string `json:"known_from"`
		Promises  []string
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(all[5].Promises, ", "); got != "untouched, paired, never worse" || len(all[0].Promises) != 8 {
		t.Errorf("the promises of layered: %s, of adaptive: %v", got, all[0].Promises)
	}
	if len(all) != 6 || all[0].Name != "adaptive" || all[0].KnownFrom != "" || all[1].KnownFrom != "helexa/cortex" {
		t.Errorf("%+v", all)
	}
}
