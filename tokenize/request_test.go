package tokenize

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const weatherTool = `[{"type":"function","function":{"name":"get_weather","description":"The \"weather\" in a city\\","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`

func TestToolsCostTheirCompactJSON(t *testing.T) {
	f := func(raw string, want int) {
		t.Helper()
		if got := named(t, "bytes/4").Tools([]byte(raw)); got != want {
			t.Errorf("%.60q costs %d, want %d", raw, got, want)
		}
	}
	f("", 0)
	f("null", 0)
	f(" null\n", 0)
	f("[]", 0)
	f(" [ ] ", 0)
	f("{}", 0)
	f("{ }", 0)
	f(weatherTool, ceilDiv(len(weatherTool), 4))
	f(indent(weatherTool), ceilDiv(len(weatherTool), 4)) // what the model sees does not depend on the client's layout
	f(`[{"name":"a b  c"}]`, 5)                          // blanks inside strings are text
	f(`[ {"name" : "a\" b"} ]`, 5)                       // [{"name":"a\" b"}] has 18 bytes
	f(`[ "x\\" , 1 ]`, 3)                                // ["x\\",1] has 9 bytes
	f(`[ "never ends  `, 4)                              // not JSON; a cost all the same
	f(`\" \" \"`, 2)
	f("["+strings.Repeat(" ", 100)+"]", 1) // nobody sends this; it costs no less than nothing
}

func TestFormatCostsItsJSON(t *testing.T) {
	f := func(raw string, want int) {
		t.Helper()
		if got := named(t, "bytes/4").Format([]byte(raw)); got != want {
			t.Errorf("%q costs %d, want %d", raw, got, want)
		}
	}
	f("", 0)
	f("null", 0)
	f("{}", 0)
	f(`{"type":"text"}`, 0)
	f(`{ "type" : "text" }`, 0)
	f("{\n  \"type\": \"text\"\n}", 0)
	f(`{"type":"te xt"}`, 4)
	f(`{"type":"json_object"}`, 6) // 22 bytes
	f(`{"type": "json_object"}`, 6)
}

func indent(raw string) string {
	var b bytes.Buffer
	mustDo(json.Indent(&b, []byte(raw), "\t", "    "))
	return strings.ReplaceAll(b.String(), "\n", "\r\n")
}
