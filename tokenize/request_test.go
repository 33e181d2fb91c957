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

func FuzzCompact(f *testing.F) {
	f.Add([]byte(weatherTool))
	f.Add([]byte(indent(weatherTool)))
	f.Add([]byte(`"\`))
	f.Add([]byte(`{ "a" : [ 1 , 2.5e3 , "\\\" \n" , true ] }`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		kept := compactJSON(raw)
		var want bytes.Buffer
		if json.Compact(&want, raw) == nil && !bytes.Equal(kept, want.Bytes()) {
			t.Fatalf("%q: %q, want %q", raw, kept, want.Bytes())
		}
		c := For("gpt-4o")
		if c.Tools(raw) < 0 || c.Format(raw) < 0 {
			t.Fatalf("%q has a negative cost", raw)
		}
	})
}

func indent(raw string) string {
	var b bytes.Buffer
	mustDo(json.Indent(&b, []byte(raw), "\t", "    "))
	return strings.ReplaceAll(b.String(), "\n", "\r\n")
}
