package strict

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Call is one tool call.
type Call struct {
	ID        string
	Type      string // "function" or "custom"; "" in a Reply means function
	Name      string
	Arguments string // the JSON text; the input of a custom tool
}

func toolCalls(i int, o object) ([]Call, *Refusal) {
	v, ok := o["tool_calls"]
	if !ok {
		return nil, nil
	}
	where := at(i, ".tool_calls")
	var list []json.RawMessage
	if typeOf(v) != "an array" || json.Unmarshal(v, &list) != nil {
		return nil, wrongType(where, "an array of objects", v)
	}
	if len(list) == 0 {
		return nil, emptyArray(where)
	}
	if len(list) > maxCalls {
		return nil, longArray(where, maxCalls, len(list))
	}
	calls := make([]Call, len(list))
	for n, raw := range list {
		c, r := toolCall(fmt.Sprintf("%s[%d]", where, n), raw)
		if r != nil {
			return nil, r
		}
		calls[n] = c
	}
	return calls, nil
}

func toolCall(where string, raw json.RawMessage) (c Call, r *Refusal) {
	var o object
	if typeOf(raw) != "an object" || json.Unmarshal(raw, &o) != nil {
		return c, wrongType(where, "an object", raw)
	}
	if c.ID, r = requiredString(o, where+".id", "id"); r != nil {
		return c, r
	}
	if c.ID == "" {
		return c, emptyString(where + ".id")
	}
	if c.Type, r = requiredString(o, where+".type", "type"); r != nil {
		return c, r
	}
	field := "arguments"
	switch c.Type {
	case "function":
	case "custom":
		field = "input"
	default:
		return c, refuse(KindShape, where+".type", "invalid_value",
			"Invalid value: '%s'. Supported values are: 'function' and 'custom'.", c.Type)
	}
	c.Name, c.Arguments, r = nameAndText(o, where, c.Type, field)
	return c, r
}

// functionCall reads the legacy form. Null means none: the schema calls it nullable, unlike tool_calls.
func functionCall(i int, o object) (*Call, *Refusal) {
	if _, ok := given(o, "function_call"); !ok {
		return nil, nil
	}
	name, arguments, r := nameAndText(o, at(i, ""), "function_call", "arguments")
	if r != nil {
		return nil, r
	}
	return &Call{Name: name, Arguments: arguments}, nil
}

// nameAndText reads {"name": …, field: …} from the object at key.
func nameAndText(o object, where, key, field string) (name, text string, r *Refusal) {
	where += "." + key
	v, ok := o[key]
	if !ok {
		return "", "", missing(where)
	}
	var f object
	if typeOf(v) != "an object" || json.Unmarshal(v, &f) != nil {
		return "", "", wrongType(where, "an object", v)
	}
	if name, r = requiredString(f, where+".name", "name"); r != nil {
		return "", "", r
	}
	if name == "" {
		return "", "", emptyString(where + ".name")
	}
	text, r = requiredString(f, where+"."+field, field)
	return name, text, r
}

// longIDs refuses ids of calls above most characters. Results need no check: their ids must equal a call's.
func longIDs(messages []Message, most int) *Refusal {
	for i, m := range messages {
		for n, c := range m.Calls {
			if got := utf8.RuneCountInString(c.ID); got > most {
				return longString(fmt.Sprintf("%s[%d].id", at(i, ".tool_calls"), n), most, got)
			}
		}
	}
	return nil
}
