package fold

import (
	"encoding/json"
	"regexp"
	"slices"

	"laconic/compact"
	"laconic/proxy/wire"
)

// Messages is [Compact] for a list of messages alone, a JSON array in the shape of any
// of the APIs, which comes back in that shape. It is what gateways hand over that have
// taken tools and the rest of the request away; see Options.Overhead.
//
// No text that is not the client's own has the form by which LiteLLM finds a marker of
// what it can retrieve, hash= and 24 hexadecimal digits.
func Messages(list []byte, model string, o Options) ([]byte, compact.Report, error) {
	if o.Wire == nil {
		if o.Wire = wire.DetectList(list); o.Wire == nil {
			return list, compact.Report{}, ErrShape
		}
	}
	key, rest := "messages", "}"
	if o.Wire == wire.Responses {
		key, rest = "input", `,"store":false}` // all that the list refers to is in it
	}
	name, _ := json.Marshal(model) // a string, which cannot fail
	head := `{"model":` + string(name) + `,"` + key + `":`
	body := slices.Concat([]byte(head), list, []byte(rest))
	out, r, err := compacted(body, o, withoutMarkers)
	if err != nil || len(out) == len(body) && &out[0] == &body[0] {
		return list, r, err
	}
	return out[len(head) : len(out)-len(rest)], r, nil // an edit is within the list
}

// marker is what LiteLLM takes for a marker.
var marker = regexp.MustCompile(`hash=([a-fA-F0-9]{24})`)

// withoutMarkers breaks the markers in all texts that the client did not send as they
// are: records quote what left.
func withoutMarkers(was, edited []compact.Message) {
	for i := range edited {
		m := &edited[i]
		if !m.Edited {
			continue
		}
		for n, p := range m.Parts {
			if p.Nth == 0 || !was[m.Origin].Parts[p.Nth-1].Text.Equal(p.Text) {
				m.Parts = slices.Clone(m.Parts)
				m.Parts[n].Text = unmarked(p.Text)
			}
		}
		for n, c := range m.Calls {
			if c.Nth == 0 || !was[m.Origin].Calls[c.Nth-1].Arguments.Equal(c.Arguments) {
				m.Calls = slices.Clone(m.Calls)
				m.Calls[n].Arguments = unmarked(c.Arguments)
			}
		}
	}
}

func unmarked(t compact.Text) compact.Text {
	if text := t.String(); marker.MatchString(text) {
		return compact.Plain(marker.ReplaceAllString(text, "hash $1"))
	}
	return t
}
