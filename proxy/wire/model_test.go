package wire_test

import (
	"errors"
	"strings"
	"testing"

	"laconic/proxy/wire"
)

func TestTheModelOfABodyIsReadInOneWayOrNotAtAll(t *testing.T) {
	f := func(body, want string, fault wire.Code) {
		t.Helper()
		got, err := wire.Model([]byte(body))
		var pass *wire.PassError
		if errors.As(err, &pass); got != want || (err != nil) != (fault != "") || err != nil && pass.Reason != fault {
			t.Errorf("%.60q: %q, %v; want %q, %q", body, got, err, want, fault)
		}
	}
	f(`{"model":"a"}`, "a", "")
	f(` {"input":["model","x"],"x":{"model":"b","model":"c"},"mod\u0065l" : "\u0061\/\"b" } `, `a/"b`, "")
	f(`{"input":"\ud800","model":"a"}`, "a", "")
	f("{\"input\":\"\xff\",\"model\":\"a\"}", "a", "")
	f(`{"messages":[],"messages":[],"model":"a"}`, "a", "")
	f(`{"x":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`,"model":"a"}`, "a", "")
	f("", "", "")
	f(" \n", "", "")
	f(`{}`, "", "")
	f(`{"model":null}`, "", "")
	f(`{"model":["a"]}`, "", "") // no reader takes it for a's
	f(`{"model":"a","model":"b"}`, "", wire.DuplicateKey)
	f(`{"model":"a","model":"a"}`, "", wire.DuplicateKey)
	f(`{"model":"a","x":1,"\u006dodel":"b"}`, "", wire.DuplicateKey)
	f(`{"model":"a","Model":"b"}`, "", wire.DuplicateKey)
	f(`{"model":"a","model":null}`, "", wire.DuplicateKey)
	f(`{"MODEL":"a"}`, "", wire.AmbiguousKey)
	f(`{"model":"a"`, "", wire.InvalidJSON)
	f(`{"model":"a"}{"model":"b"}`, "", wire.InvalidJSON)
	f(`{model:"a"}`, "", wire.InvalidJSON)
	f(`model=a`, "", wire.InvalidJSON)
	f("\xef\xbb\xbf"+`{"model":"a"}`, "", wire.InvalidJSON)
	f(`["model","a"]`, "", wire.NotObject)
	f(`"model"`, "", wire.NotObject)
	f(strings.Repeat("[", 100_000), "", wire.InvalidJSON)
}

func TestTheModelOfAnAnswerIsReadAtItsTopOnly(t *testing.T) {
	f := func(w wire.Wire, text string, stream, whole bool, want string) {
		t.Helper()
		if got := w.AnsweredBy(wire.Answer{Head: []byte(text), Tail: []byte(text), Stream: stream, Whole: whole}); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	nested := `{"choices":[{"message":{"tool_calls":[{"function":{"arguments":{"model":"written"}}}]}}]}`
	f(wire.Chat, `{"id":"x","model":"a","choices":[]}`, false, true, "a")
	f(wire.Chat, nested, false, true, "")
	f(wire.Chat, nested[1:], false, false, "")
	f(wire.Chat, `"model":"a","usage":{}}`, false, false, "")                                                  // the end of a long one: of what, nobody knows
	f(wire.Chat, "data: {\"model\":\"\"}\r\n\r\ndata:{\"model\":\"b\"}\n\ndata: [DONE]\n\n", true, false, "b") // Azure's first event names none
	f(wire.Chat, "data: "+nested+"\n\n", true, true, "")
	f(wire.Chat, ": a comment\n\n", true, true, "")
	f(wire.Chat, "", true, true, "")
	f(wire.Messages, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"a\"}}\n\n", true, false, "a")
	f(wire.Responses, "data: {\"response\":{\"model\":\"a\",\"instructions\":\"You a", true, false, "a")
}
