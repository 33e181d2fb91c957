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
	f := func(text string, stream, whole bool, want string) {
		t.Helper()
		if got := wire.Chat.AnsweredBy(wire.Answer{Tail: []byte(text), Stream: stream, Whole: whole}); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	nested := `{"choices":[{"message":{"tool_calls":[{"function":{"arguments":{"model":"written"}}}]}}]}`
	f(`{"id":"x","model":"a","choices":[]}`, false, true, "a")
	f(nested, false, true, "")
	f(nested[1:], false, false, "")
	f(`"model":"a","usage":{}}`, false, false, "") // the end of a long one: of what, nobody knows
	f("data: {\"model\":\"a\"}\n\ndata: {\"model\":\"b\"}\r\n\r\ndata: [DONE]\n\n", true, false, "b")
	f("odel\":\"a\"}\n\ndata:{\"model\":\"b\"}\n\ndata: {\"mod", true, false, "b")
	f("data: "+nested+"\n\n", true, true, "")
	f("data: {\"x\":\"data: {}\",\"model\":\"a\"}\n\n", true, true, "a")
	f(": a comment\n\n", true, true, "")
	f("", true, true, "")
}
