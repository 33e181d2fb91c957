package compact

import (
	"slices"
	"strconv"
	"strings"
)

// maxID is the longest id that OpenAI takes.
const maxID = 40

// rename gives a new id to a call whose id is missing, or was used before in
// the same message. Its result follows in align.
func (r *repairer) rename(m *Message, answers []int) {
	ids := make(map[string]bool, len(m.Calls))
	for n := range m.Calls {
		ids[m.Calls[n].ID] = true
	}
	delete(ids, "")
	seen := make(map[string]bool, len(m.Calls))
	copied, next := false, len(ids)+1
	for n := range m.Calls {
		c := m.Calls[n]
		if c.Kind == CallLegacy {
			continue
		}
		if c.ID != "" && !seen[c.ID] {
			seen[c.ID] = true
			continue
		}
		why := "id used twice in one message"
		fresh := ""
		if c.ID == "" {
			why = "id missing"
			if k := answers[n]; k != open && !ids[r.in[k].Answers] {
				fresh = r.in[k].Answers
			}
		}
		if fresh == "" {
			fresh = freshID(c.ID, ids, &next)
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

// freshID makes an id out of id that is not in ids, with *next or a later
// number at its end. An id of nine letters and digits keeps that form, which
// Mistral demands. All calls of a message share next: to look again from the
// start for each would be quadratic.
func freshID(id string, ids map[string]bool, next *int) string {
	if id == "" {
		id = "call"
	}
	for ; ; *next++ {
		suffix := strconv.Itoa(*next)
		s := strings.ToValidUTF8(id[:min(len(id), maxID-1-len(suffix))], "") + "_" + suffix
		if len(id) == 9 && alphanumeric(id) && len(suffix) < 9 {
			s = id[:9-len(suffix)] + suffix
		}
		if !ids[s] {
			return s
		}
	}
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// align gives every result the id of its call. results are those of m in the
// order order.
func (r *repairer) align(m *Message, answers []int, results []Message, order []int) {
	call := make(map[int]int, len(answers))
	for n, k := range answers {
		if k != open {
			call[k] = n
		}
	}
	i := 0
	for _, k := range order {
		if k == open {
			continue
		}
		res := &results[i]
		i++
		want := callKey(&m.Calls[call[k]]).id
		if res.Answers == want {
			continue
		}
		res.Answers, res.Edited = want, true
		r.note(Edit{Op: OpSetID, Why: "result takes the id of its call", Origin: res.Origin, ID: want})
	}
}
