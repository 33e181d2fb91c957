package summarize

import (
	"hash/maphash"

	"laconic/compact"
)

// memo names something inside this process: a hash, under secret seeds, of
// everything that it depends on. Clients choose the texts, so the seeds are new
// with each process.
type memo [2]uint64

type seeds [2]maphash.Seed

// of returns the memo of comparable values. No two lists of values have the same.
func (s seeds) of(values ...any) (m memo) {
	for i := range m {
		var h maphash.Hash
		h.SetSeed(s[i])
		for _, v := range values {
			maphash.WriteComparable(&h, v)
		}
		m[i] = h.Sum64()
	}
	return m
}

// prints are the memos of the messages of one request that are as they came, by their
// Origin.
type prints map[int]memo

// message returns the memo of a message: of all that is told of it, its texts as they
// were written.
func (p prints) message(s seeds, m *compact.Message) memo {
	asItCame := m.Origin >= 0 && !m.Edited
	if known, ok := p[m.Origin]; ok && asItCame {
		return known
	}
	all := []any{
		m.Origin, m.Role, m.Shape, m.Seal, m.Flawed, m.Sound, m.Open, m.Holds, m.Edited, m.Failed,
		m.Name, m.Answers, m.Reasoning, m.Refusal, len(m.Parts),
	}
	for i := range m.Parts {
		all = append(all, m.Parts[i])
	}
	for i := range m.Calls {
		all = append(all, m.Calls[i])
	}
	made := s.of(all...)
	if asItCame {
		p[m.Origin] = made
	}
	return made
}

// left returns the memo of a message that has left, or is about to: by its bytes, if
// they were hashed already. Markers move through the newest messages of a conversation;
// they are part of the bytes, and not of the texts.
func (p prints) left(s seeds, m *compact.Message) memo {
	if m.Sum == (compact.Sum{}) || m.Edited {
		return p.message(s, m)
	}
	return m.Sum.Hash
}
