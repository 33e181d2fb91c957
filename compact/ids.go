package compact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainID returns an id with _ in the place of what is no letter or digit of ASCII.
func plainID(id string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c < utf8.RuneSelf && alphanumeric(string(c)) {
			return c
		}
		return '_'
	}, id)
}

// longestID is the length of the longest id that OpenAI takes.
const longestID = 40

// freshID returns an id made of id that is not taken, with *next or a later
// number at its end. An id of nine letters and digits keeps that form, which
// Mistral demands. All calls of a message share next, because starting again for
// each would be quadratic.
func freshID(id string, longest int, taken func(string) bool, next *int) string {
	id = cmp.Or(id, "call")
	for ; ; *next++ {
		suffix := strconv.Itoa(*next)
		s := strings.ToValidUTF8(id[:min(len(id), longest-1-len(suffix))], "") + "_" + suffix
		if len(id) == 9 && alphanumeric(id) && len(suffix) < 9 {
			s = id[:9-len(suffix)] + suffix
		}
		if !taken(s) {
			return s
		}
	}
}

func alphanumeric(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') })
}

// crosses reports whether a call or result with that id may leave its round.
func crosses(id string) bool {
	_, named := NameIn(id)
	return !named && id != ""
}

// rename sets a new id on every call whose id is missing, is not as the API takes it,
// or was used before in the same message, or in the list where the API demands that.
func (r *repairer) rename(m *Message, answers []int) {
	ids := make(map[string]bool, len(m.Calls))
	for n := range m.Calls {
		if id := m.Calls[n].ID; crosses(id) {
			ids[id] = true
		}
	}
	seen := r.used
	if !r.rules.OnceInList {
		seen, r.next = make(map[string]bool, len(m.Calls)), 0
	}
	longest := cmp.Or(r.rules.LongestID, longestID)
	copied := false
	r.next = max(r.next, len(ids)+1)
	for n := range m.Calls {
		c := m.Calls[n]
		if _, named := NameIn(c.ID); named {
			continue
		}
		is := c.ID
		if r.rules.PlainIDs {
			is = plainID(is)
		}
		if is != "" && is == c.ID && !seen[is] {
			seen[is] = true
			continue
		}
		why, fresh := "id used twice in one message", ""
		switch {
		case is != c.ID:
			why = "id with other letters"
			if !ids[is] && !seen[is] {
				fresh = is
			}
		case r.rules.OnceInList:
			why = "id used twice"
		}
		if c.ID == "" {
			why = "id missing"
			if k := answers[n]; k != open && !ids[r.in[k].Answers] && !seen[r.in[k].Answers] && !r.rules.PlainIDs {
				fresh = r.in[k].Answers
			}
		}
		if fresh == "" {
			fresh = freshID(is, longest, func(id string) bool { return ids[id] || seen[id] }, &r.next)
		}
		c.ID = fresh
		ids[fresh], seen[fresh] = true, true
		if !copied {
			m.Calls, m.Edited, copied = slices.Clone(m.Calls), true, true
		}
		m.Calls[n] = c
		r.note(Edit{Op: OpRename, Why: why, Origin: m.Origin, Part: n, ID: c.ID})
	}
}
