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
