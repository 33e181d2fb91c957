package rig

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/proxy/wire/wiretest"
)

// A Chat is a recorded conversation.
type Chat struct {
	ID, Model string
	Messages  []json.RawMessage
	Tools     json.RawMessage
	Size      int `json:"-"` // of what was recorded, in bytes
}

// Chats returns the recorded conversations that are wanted, by their numbers and their
// IDs; nil: all.
func Chats(t testing.TB, wanted func(n int, id string) bool) (all []*Chat) {
	t.Helper()
	n := -1
	for _, name := range wiretest.ConversationFiles(t) {
		for line := range wiretest.Lines(t, name) {
			if n++; wanted != nil && !wanted(n, gjson.GetBytes(line, "id").String()) {
				continue
			}
			c := &Chat{}
			if err := json.Unmarshal(line, c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if c.Size = len(line); string(c.Tools) == "null" {
				c.Tools = nil
			}
			all = append(all, c)
		}
	}
	return all
}

// Points returns the lengths of the histories that the client sent: what stood before
// each answer, and the whole.
func (c *Chat) Points() (points []int) {
	for i, m := range c.Messages {
		if i > 0 && gjson.GetBytes(m, "role").Str == "assistant" {
			points = append(points, i)
		}
	}
	return append(points, len(c.Messages))
}

// Body returns a request with these messages, and with gap between two of them.
func (c *Chat) Body(messages []json.RawMessage, gap string) []byte {
	b := fmt.Appendf(nil, `{"model":%q,"messages":[`, c.Model)
	for i, m := range messages {
		if i > 0 {
			b = append(b, gap...)
		}
		b = append(b, m...)
	}
	b = append(b, ']')
	if len(c.Tools) > 0 {
		b = fmt.Appendf(b, `,"tools":%s`, c.Tools)
	}
	return append(b, `,"temperature": 0.10}`...)
}
