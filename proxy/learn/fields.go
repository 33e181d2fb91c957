package learn

import (
	"encoding/json"
	"strconv"
	"strings"
)

// fields is a JSON object whose fields are read one by one: what one of them
// holds, or one row of a list, must not lose what the others tell. A field that
// is missing or holds something else than is asked for reads as nothing.
type fields map[string]json.RawMessage

// fieldsOf reads an object; nil for anything else.
func fieldsOf(raw []byte) (f fields) {
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// rowsOf reads the objects of an array; nil for anything else.
func rowsOf(raw []byte) []fields {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	rows := make([]fields, 0, len(list))
	for _, row := range list {
		if f := fieldsOf(row); f != nil {
			rows = append(rows, f)
		}
	}
	return rows
}

func (f fields) in(name string) fields     { return fieldsOf(f[name]) }
func (f fields) rows(name string) []fields { return rowsOf(f[name]) }

func (f fields) text(name string) (s string) {
	if json.Unmarshal(f[name], &s) != nil {
		return ""
	}
	return s
}

// tokens reads a number, which some write as a string.
func (f fields) tokens(name string) int {
	n, err := strconv.ParseFloat(strings.Trim(string(f[name]), `"`), 64)
	if err == nil && n >= 1 && n <= mostBelieved { // "NaN" is a number, too
		return int(n)
	}
	return 0
}
