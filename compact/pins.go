package compact

import (
	"regexp"
	"slices"
	"strings"
)

// Pins name messages that may not change. A pin covers its whole exchange.
type Pins struct {
	Roles    []Role
	Text     []*regexp.Regexp // matched with the texts of a message
	Tools    []*regexp.Regexp // matched with the names of called tools: see Names
	Messages []int            // indices in the client's list
}

// Names returns expressions for Pins.Tools that match names. In a name, * stands
// for any run of characters.
func Names(names ...string) (all []*regexp.Regexp) {
	for _, n := range names {
		all = append(all, regexp.MustCompile("^(?s:"+strings.ReplaceAll(regexp.QuoteMeta(n), `\*`, ".*")+")$"))
	}
	return all
}

// mask returns, for each message, whether it is pinned.
func (p *Pins) mask(msgs []Message) []bool {
	mask := make([]bool, len(msgs))
	if len(p.Roles)+len(p.Text)+len(p.Tools)+len(p.Messages) == 0 {
		return mask
	}
	named := make(map[int]bool, len(p.Messages))
	for _, i := range p.Messages {
		named[i] = true
	}
	start := 0
	for i := range msgs {
		m := &msgs[i]
		if !m.Role.Result() {
			start = i
		}
		if !mask[start] && (named[m.Origin] && m.Origin != Added || p.holds(m)) {
			mask[start] = true
			for k := start + 1; k < i; k++ {
				mask[k] = true
			}
		}
		mask[i] = mask[start]
	}
	return mask
}

// holds reports whether a rule of p names m.
func (p *Pins) holds(m *Message) bool {
	if slices.Contains(p.Roles, m.Role) {
		return true
	}
	for i := range m.Calls {
		for _, re := range p.Tools {
			if re.MatchString(m.Calls[i].Name) {
				return true
			}
		}
	}
	if len(p.Text) == 0 {
		return false
	}
	for i := range m.Parts {
		if m.Parts[i].Kind != KindText {
			continue
		}
		text := m.Parts[i].Text.String()
		for _, re := range p.Text {
			if re.MatchString(text) {
				return true
			}
		}
	}
	return false
}
