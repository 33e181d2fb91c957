package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// Model returns the model that a JSON body names, whatever else the body holds;
// "" where it names none. It reads what Decode refuses as long as every reader
// finds the same name in it: half of a surrogate pair in a message says nothing
// of the model. The error is a *PassError: the body is no JSON object, or names
// the model more than once, or in a spelling that only some readers take for it.
func Model(body []byte) (string, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return "", nil
	}
	if !json.Valid(body) {
		return "", &PassError{Reason: InvalidJSON}
	}
	root := gjson.Parse(lent(body))
	if !root.IsObject() {
		return "", &PassError{Reason: NotObject}
	}
	name, named, odd := "", 0, false
	root.ForEach(func(key, value gjson.Result) bool {
		if k := key.String(); strings.EqualFold(k, "model") {
			named++
			odd = odd || k != "model"
			if value.Type == gjson.String {
				name = strings.Clone(value.String())
			}
		}
		return true
	})
	switch {
	case named > 1:
		return "", &PassError{Reason: DuplicateKey, Detail: "model"}
	case odd:
		return "", &PassError{Reason: AmbiguousKey, Detail: "model"}
	}
	return name, nil
}
