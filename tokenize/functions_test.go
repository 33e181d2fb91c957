package tokenize

import (
	"fmt"
	"strings"
	"testing"
)

// weatherTools is the example of OpenAI's cookbook.
const weatherTools = `[{"type":"function","function":{"name":"get_current_weather",
  "description":"Get the current weather in a given location",
  "parameters":{"type":"object","properties":{
    "location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},
    "unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},
  "required":["location"]}}}]`

func TestFlatFunctionsCostWhatTheFormulaSays(t *testing.T) {
	f := func(raw string, want int) {
		t.Helper()
		if got := For("gpt-4o").Tools([]byte(raw)); got != want {
			t.Errorf("%.80s costs %d, want %d", raw, got, want)
		}
		if got := For("gpt-4o").Tools([]byte(indent(raw))); got != want {
			t.Errorf("in another layout %.80s costs %d, want %d", raw, got, want)
		}
	}
	text := func(lines ...string) (n int) {
		for _, line := range lines {
			n += For("gpt-4o").Text(line)
		}
		return n
	}
	// 7 a function, 12 behind the last.
	f(tool(`"name":"ls"`), 7+text("ls:")+12)
	f(tool(`"name":"ls","description":"List files."`), 7+text("ls:List files")+12) // a full stop at the end is left out
	f(tool(`"name":"ls","strict":true`), 7+text("ls:")+12)
	f(tool(`"name":"ls","parameters":{"type":"object"}`), 7+text("ls:")+12)
	f(tool(`"name":"ls","parameters":{"type":"object","properties":{},"required":[]}`), 7+text("ls:")+12)
	f(`[{"name":"ls"}]`, 7+text("ls:")+12) // a legacy function has no type around it
	f(tool(`"name":"ls"`)[:len(tool(`"name":"ls"`))-1]+","+tool(`"name":"cat"`)[1:], 7+text("ls:")+7+text("cat:")+12)
	// 3 where there are properties, 3 for each.
	f(tool(`"name":"ls","parameters":{"properties":{"path":{"type":"string","description":"Where."}}}`),
		7+text("ls:")+3+3+text("path:string:Where")+12)
	f(tool(`"name":"ls","parameters":{"properties":{"path":{"type":["string","null"]}}}`),
		7+text("ls:")+3+3+text("path:string | null:")+12)
	// -3 for an enum, 3 for each item.
	f(tool(`"name":"ls","parameters":{"properties":{"by":{"type":"string","enum":["name","size"]}}}`),
		7+text("ls:")+3+3+text("by:string:")-3+3+text("name")+3+text("size")+12)
	f(tool(`"name":"ls","parameters":{"properties":{"by":{"type":"string","enum":[]}}}`), 7+text("ls:")+3+3+text("by:string:")+12)
}

// Schemas that the formula does not know cost more than the same function without them.
func TestWhatNestsIsNeverBelowTheFormula(t *testing.T) {
	const flat = `"name":"f","description":"Does it.","parameters":{"type":"object","properties":{"a":{"type":"object","description":"One."%s}}%s}`
	c := For("gpt-4o")
	formula := c.Tools([]byte(tool(fmt.Sprintf(flat, "", ""))))
	f := func(inProperty, inRoot string, least int) {
		t.Helper()
		if got := c.Tools([]byte(tool(fmt.Sprintf(flat, inProperty, inRoot)))); got < formula+least {
			t.Errorf("%s%s costs %d, want at least %d + %d", inProperty, inRoot, got, formula, least)
		}
	}
	f(`,"properties":{"b":{"type":"string","description":"Two."}}`, "", 3+3+c.Text("b:string:Two"))
	f(`,"properties":{"b":{"properties":{"c":{"type":"string"}}}}`, "", 3+3+c.Text("b::")+3+3+c.Text("c:string:"))
	f(`,"items":{"type":"string"}`, "", 3+c.Text(":string:"))
	f(`,"items":{"properties":{"b":{"type":"string","enum":["x","y"]}}}`, "", 3+3+3+3)
	f(`,"items":[{"type":"string","description":"Much text in a tuple."},{"type":"number"}]`, "", 2*3+c.Text("Much text in a tuple"))
	f(`,"anyOf":{"type":"string","description":"Much text in no list."}`, "", 3+c.Text("Much text in no list"))
	f(`,"properties":["Much text in a list."]`, "", c.Text("Much text in a list."))
	f(`,"enum":{"x":"Much text in an object."}`, "", c.Text("Much text in an object."))
	f(`,"anyOf":[{"type":"string"},{"type":"null"}]`, "", 2*3+2)
	f(`,"additionalProperties":{"type":"string"}`, "", 3)
	f(`,"default":{"x":[1,true,null,"a long text of many words"]}`, "", c.Text("a long text of many words")+3)
	f(`,"pattern":"^[a-z0-9]+$"`, "", c.Text("^[a-z0-9]+$"))
	f("", `,"$defs":{"x":{"type":"object","description":"Much text in a definition."}}`, c.Text("Much text in a definition."))
	f("", `,"description":"Of the whole object."`, c.Text("Of the whole object."))
	f("", `,"additionalProperties":false`, 0)
}

func TestOtherToolsCostTheirText(t *testing.T) {
	c := For("gpt-4o")
	f := func(raw string, words ...string) {
		t.Helper()
		least := 7 + 12
		for _, w := range words {
			least += c.Text(w)
		}
		if got := c.Tools([]byte(raw)); got < least {
			t.Errorf("%s costs %d, want at least %d", raw, got, least)
		}
	}
	f(`[{"type":"custom","custom":{"name":"sql","description":"Runs a query","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: A B C"}}}}]`,
		"sql:Runs a query", "start: A B C")
	f(`[{"type":"web_search","user_location":{"city":"Springfield"}}]`, "Springfield")
	f(`[{"type":"function","function":{"name":"f","parameters":"not a schema"}}]`, "f:", "not a schema")
	f(`[{"type":"function","function":{"name":"f","parameters":{"properties":{"a":"not a schema"}}}}]`, "f:", "not a schema")
}

// Tools that are too long to be read cost no less than those that are just read.
func TestLongToolsAreNotBelowTheFormula(t *testing.T) {
	c := For("gpt-4o")
	f := func(item string) {
		t.Helper()
		list := func(size int) []byte {
			return []byte(tool(`"name":"f","parameters":{"properties":{"a":{"enum":[` + strings.Repeat(item+",", size/(len(item)+1)) + item + `]}}}`))
		}
		long := list(longestTools + 1)
		if got, want := c.Tools(long), 2*(c.Tools(list(longestTools/2))-c.Tools(list(0))); got < want {
			t.Errorf("items %s: %d bytes cost %d, want at least twice the items of half the length, %d", item, len(long), got, want)
		}
	}
	f(`"a"`)
	f(`"v12345"`)
	f(`"of several words"`)
	f(`1`)
	f(`1e999`)
}

// Tools that are no list, or too deep, are charged as more than their text: the formula would ask for more, too.
func TestBrokenToolsAreNotBelowTheFormula(t *testing.T) {
	c := For("gpt-4o")
	list := tool(`"name":"ls","parameters":{"properties":{"by":{"type":"string","enum":["a","b","c","d","e","f","g","h","i","j","k"]}}}`)
	f := func(raw string, least int) {
		t.Helper()
		if got, most := c.Tools([]byte(raw)), 2*c.Text(raw)+7+12; got < least || got > most {
			t.Errorf("%.40q costs %d, want %d to %d", raw, got, least, most)
		}
	}
	formula := c.Tools([]byte(list))
	f(list[:len(list)-1], formula)
	f(list+"]", formula)
	f(list+list, 2*(formula-12))
	f(list[1:len(list)-1], formula)
	f(`{"name":"f"}`, c.Tools([]byte(`[{"name":"f"}]`)))
	f(`"of several words"`, c.Text("of several words"))
	f(strings.Repeat("[", 1<<20), 1)
	f(list+"\n", formula)
	if got := c.Tools([]byte(" \n" + list + "\r\n\t ")); got != formula {
		t.Errorf("with blanks around it a list costs %d, want %d", got, formula)
	}
}

func tool(function string) string { return `[{"type":"function","function":{` + function + `}}]` }
