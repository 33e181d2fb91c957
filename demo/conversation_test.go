package demo

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"laconic/demo/strict"
)

func TestTheConversationHasEverythingThatAShowNeeds(t *testing.T) {
	c := load()
	ids, answered := map[string]bool{}, map[string]bool{}
	users, interrupted, parallel := 0, 0, 0
	for i, m := range c.Messages {
		if m.Content == "" || !utf8.ValidString(m.Content) {
			t.Errorf("message %d: no text", i)
		}
		switch m.Role {
		case "user":
			users++
		case "assistant":
			if len(m.ToolCalls) > 1 {
				parallel++
			}
			if c.interrupted(i) {
				interrupted++
			}
			for _, call := range m.ToolCalls {
				if !json.Valid([]byte(call.Function.Arguments)) || len(call.ID) > 40 || ids[call.ID] {
					t.Errorf("bad call %+v", call)
				}
				ids[call.ID] = true
			}
		case "tool":
			if !ids[m.ToolCallID] || answered[m.ToolCallID] {
				t.Errorf("message %d answers %s", i, m.ToolCallID)
			}
			answered[m.ToolCallID] = true
		}
	}
	if n, all := c.requests(0); n != 52 || all != len(c.Messages) {
		t.Errorf("%d requests, %d messages of %d", n, all, len(c.Messages))
	}
	if n, messages := c.requests(2); n != 2 || c.Messages[messages].Role != "assistant" {
		t.Errorf("%d requests, %d messages", n, messages)
	}
	if users < 5 || interrupted != 1 || parallel < 20 {
		t.Errorf("%d users, %d interrupted, %d parallel", users, interrupted, parallel)
	}
	aside, _ := json.Marshal(map[string]any{"model": c.Model, "messages": c.aside()})
	if r := strict.Check(aside); r == nil || r.Kind != strict.KindPairs {
		t.Errorf("the aside is cut where pairs stay whole: %v", r)
	}
}

func TestToolsAreNamed(t *testing.T) {
	c := load()
	for i, want := range map[int]string{2: "list, read"} {
		if got := tools(&c.Messages[i]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
