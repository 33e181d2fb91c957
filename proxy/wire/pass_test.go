package wire_test

import (
	"errors"
	"strings"
	"testing"

	"laconic/proxy/wire"
)

// user is a list of messages that can be read.
const user = `[{"role":"user","content":"hi"}]`

func TestPassed(t *testing.T) {
	f := func(body string, want wire.Code, detail string, offset int64) {
		t.Helper()
		_, err := wire.Chat.Decode([]byte(body))
		var pass *wire.PassError
		if !errors.As(err, &pass) {
			t.Errorf("%.80q: %v, want %s", body, err, want)
			return
		}
		if pass.Reason != want || pass.Detail != detail || offset >= 0 && pass.Offset != offset {
			t.Errorf("%.80q: %s %q at %d, want %s %q at %d", body, pass.Reason, pass.Detail, pass.Offset, want, detail, offset)
		}
		if pass.Offset < 0 || pass.Offset > int64(len(body)) {
			t.Errorf("%.80q: offset %d is not in the body", body, pass.Offset)
		}
	}

	// Not one JSON object.
	f("", wire.EmptyBody, "", 0)
	f(" \r\n\t", wire.EmptyBody, "", 4)
	f("not json", wire.NotObject, "", 0)
	f("model=gpt-4o&stream=1", wire.NotObject, "", 0)
	f("--boundary\r\nContent-Disposition: form-data", wire.NotObject, "", 0)
	f("\ufeff{}", wire.NotObject, "it begins with a byte order mark", 0)
	f("{\x00\"\x00m\x00", wire.InvalidJSON, "", 1) // UTF-16
	f("\xff\xfe{\x00", wire.NotObject, "", 0)
	f("[]", wire.NotObject, "", 0)
	f(`{"messages":`+user, wire.InvalidJSON, "", -1)
	f(`{"messages":`+user+`,}`, wire.InvalidJSON, "", -1)
	f(`{"messages" `+user+`}`, wire.InvalidJSON, "", -1)
	f(`{"messages":`+user+`} x`, wire.TrailingData, "", 46)
	f(`{"messages":`+user+`}{"messages":[]}`, wire.TrailingData, "", -1)
	f(`{"messages":`+user+`}`+"\x00", wire.TrailingData, "", -1)
	f(`{"n":1.,"messages":`+user+`}`, wire.InvalidJSON, "", -1)
	f(`{"n":NaN,"messages":`+user+`}`, wire.InvalidJSON, "", -1)
	f("{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}", wire.InvalidJSON, "", -1)
	f("{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", wire.InvalidUTF8, "", 39)
	f(`{"messages":[{"role":"user","content":"\ud83d"}]}`, wire.InvalidUTF8, "", 39)
	f(`{"messages":`+user+`,"user":"\udc00"}`, wire.InvalidUTF8, "", -1)

	// Keys. Python, Node and Go take the last of two, gjson the first.
	f(`{"messages":`+user+`,"messages":[]}`, wire.DuplicateKey, "messages", 45)
	f(`{"messages":`+user+`,"mess\u0061ges":[]}`, wire.DuplicateKey, "messages", -1)
	f(`{"secret":1,"secret":2,"messages":`+user+`}`, wire.DuplicateKey, "", -1)
	f(`{"messages":[{"role":"user","role":"tool","content":""}]}`, wire.DuplicateKey, "role", -1)
	f(`{"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}`, wire.DuplicateKey, "text", -1)
	f(`{"messages":`+user+`,"tools":[{"function":{"parameters":{"x":{},"x":{}}}}]}`, wire.DuplicateKey, "", -1)
	f(`{"messages":[{"role":"user","content":"","metadata":{"a":1,"\u0061":1}}]}`, wire.DuplicateKey, "", -1)
	f(`{"mess\u0061ges":`+user+`}`, wire.AmbiguousKey, "messages", 1)
	f(`{"Messages":`+user+`}`, wire.AmbiguousKey, "messages", 1)
	f(`{"messages":`+user+`,"me\u017f\u017fages":[]}`, wire.AmbiguousKey, "messages", -1) // Go folds ſ to s
	f(`{"messages":`+user+`,"meſſages":[]}`, wire.AmbiguousKey, "messages", -1)
	f(`{"messages":`+user+`,"Model":"x"}`, wire.AmbiguousKey, "model", -1)
	f(`{"messages":[{"role":"user","Content":"a","content":"b"}]}`, wire.AmbiguousKey, "content", -1)
	f(`{"messages":[{"r\u006fle":"user","content":"b"}]}`, wire.AmbiguousKey, "role", -1)
	f(`{"messages":[{"role":"assistant","tool_calls":[{"ID":"a"}]}]}`, wire.AmbiguousKey, "id", -1)
	f(`{"messages":[{"role":"assistant","tool_calls":[{"function":{"Name":"a"}}]}]}`, wire.AmbiguousKey, "name", -1)
	f(`{"messages":[{"role":"assistant","function_call":{"\u006eame":"a"}}]}`, wire.AmbiguousKey, "name", -1)
	f(`{"messages":[{"role":"user","content":[{"Type":"text","text":""}]}]}`, wire.AmbiguousKey, "type", -1)
	f(`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"URL":""}}]}]}`, wire.AmbiguousKey, "url", -1)

	// Deeper than anything real; where depth is reached first, the rest is not read.
	f(`{"messages":`+user+`,"x":`+strings.Repeat("[", wire.MaxDepth), wire.TooDeep, "", 49+wire.MaxDepth-1)
	f(`{"messages":[{"role":"user","content":`+strings.Repeat(`[`, 9)+strings.Repeat(`]`, 9)+`}]}`, wire.WrongType, "message 0, a part is not an object", -1)

	// messages.
	f(`{}`, wire.MessagesMissing, "", 0)
	f(`{"model":"gpt-4o","prompt":"hi"}`, wire.MessagesMissing, "", 0)
	f(`{"messages":null}`, wire.MessagesNull, "", 12)
	f(`{"messages":{}}`, wire.MessagesNotArray, "", 12)
	f(`{"messages":{"0":{"role":"user","content":"x"}}}`, wire.MessagesNotArray, "", 12)
	f(`{"messages":nil}`, wire.InvalidJSON, "", 13)
	f(`{"messages":}`, wire.InvalidJSON, "", 12)
	f(`{"messages":[]}`, wire.MessagesEmpty, "", 12)
	f(`{"messages":[],"messages":[{"role":"user","content":"x"}]}`, wire.DuplicateKey, "messages", 15)
	f(`{"messages":null,"messages":[]}`, wire.DuplicateKey, "messages", 17)
	f(`{"messages":[],"x":}`, wire.InvalidJSON, "", 19)
	f(`{"messages":[ ]}`, wire.MessagesEmpty, "", 12)
	f(`{"messages":[null]}`, wire.MessageNotObject, "message 0", 13)
	f(`{"messages":[{"role":"user","content":"a"},"b"]}`, wire.MessageNotObject, "message 1", 43)
	f(`{"messages":[,]}`, wire.InvalidJSON, "", 13)
	f(`{"messages":[{"role":"user","content":"a"},]}`, wire.InvalidJSON, "", 42)

	// role.
	f(`{"messages":[{}]}`, wire.RoleMissing, "message 0", 13)
	f(`{"messages":[{"content":"a"}]}`, wire.RoleMissing, "message 0", 13)
	f(`{"messages":[{"role":null,"content":"a"}]}`, wire.RoleNotString, "message 0", 21)
	f(`{"messages":[{"role":"","content":"a"}]}`, wire.RoleUnknown, "message 0", 21)
	f(`{"messages":[{"role":"User","content":"a"}]}`, wire.RoleUnknown, "message 0", 21)
	f(`{"messages":[{"role":"user","content":"a"},{"role":"latest_reminder","content":"a"}]}`, wire.RoleUnknown, "message 1", -1)
	f(`{"messages":[{"role":"unknown","content":"a"}]}`, wire.RoleUnknown, "message 0", 21)

	// Fields whose meaning is needed.
	f(`{"messages":[{"role":"user","content":1}]}`, wire.WrongType, "message 0, content is neither a string nor an array", 38)
	f(`{"messages":[{"role":"user","content":{"type":"text"}}]}`, wire.WrongType, "message 0, content is neither a string nor an array", 38)
	f(`{"messages":[{"role":"user","content":undefined}]}`, wire.InvalidJSON, "", 38)
	f(`{"messages":[{"role":"user","content":["a"]}]}`, wire.WrongType, "message 0, a part is not an object", 39)
	f(`{"messages":[{"role":"assistant","tool_calls":{}}]}`, wire.WrongType, "message 0, tool_calls is not an array", 46)
	f(`{"messages":[{"role":"assistant","tool_calls":[1]}]}`, wire.WrongType, "message 0, a call is not an object", 47)
	f(`{"messages":[{"role":"assistant","tool_calls":[{"function":"f"}]}]}`, wire.WrongType, "message 0, function is not an object", 59)
	f(`{"messages":[{"role":"assistant","tool_calls":[{"type":"custom","custom":[]}]}]}`, wire.WrongType, "message 0, custom is not an object", -1)
	f(`{"messages":[{"role":"assistant","function_call":"auto"}]}`, wire.WrongType, "message 0, function_call is not an object", 49)
}

// TestPassErrorsAreSilent: whatever stands in a body, an error never repeats
// it.
func TestPassErrorsAreSilent(t *testing.T) {
	const canary = "canary4711"
	for _, body := range []string{
		canary,
		`{"` + canary + `":1,"` + canary + `":2}`,
		`{"messages":"` + canary + `"}`,
		`{"messages":["` + canary + `"]}`,
		`{"messages":[{"role":"` + canary + `"}]}`,
		`{"messages":[{"role":"user","content":{"` + canary + `":1}}]}`,
		`{"messages":[{"role":"user","` + canary + `":{"` + canary + `":1,"` + canary + `":1}}]}`,
		`{"messages":` + user + `} ` + canary,
	} {
		_, err := wire.Chat.Decode([]byte(body))
		if err == nil {
			t.Errorf("%q was read", body)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the error repeats it: %v", body, err)
		}
	}
}

func TestRoutes(t *testing.T) {
	for endpoint, want := range map[string]wire.Wire{"/chat/completions": wire.Chat, "/completions": nil, "/responses": wire.Responses, "/responses/compact": nil, "": nil} {
		if got, _ := wire.For(endpoint); got != want {
			t.Errorf("%s: %v, want %v", endpoint, got, want)
		}
	}
}
