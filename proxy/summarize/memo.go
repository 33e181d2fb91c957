package summarize

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"laconic/compact"
	"laconic/proxy/access"
)

// memo names something inside this process: a hash, under secret seeds, of
// everything that it depends on. Clients choose the texts, so the seeds are new
// with each process.
type memo [2]uint64

type seeds [2]maphash.Seed

func newSeeds() seeds { return seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// sum hashes values into a memo. No two lists of values are the same to it.
type sum struct {
	seeds seeds
	buf   [2][]byte // a text is in it as its hash
}

func (s *sum) ints(values ...int) {
	for i := range s.buf {
		for _, v := range values {
			s.buf[i] = binary.LittleEndian.AppendUint64(s.buf[i], uint64(v))
		}
	}
}

func (s *sum) flags(set ...bool) {
	n := 0
	for i, set := range set {
		if set {
			n |= 1 << i
		}
	}
	s.ints(n)
}

func (s *sum) text(text string) {
	for i := range s.buf {
		s.buf[i] = binary.LittleEndian.AppendUint64(s.buf[i], maphash.String(s.seeds[i], text))
	}
}

func (s *sum) memo(m memo) { s.ints(int(m[0]), int(m[1])) }

// end returns the hash of the values since the last call.
func (s *sum) end() (m memo) {
	for i := range s.buf {
		m[i] = maphash.Bytes(s.seeds[i], s.buf[i])
		s.buf[i] = s.buf[i][:0]
	}
	return m
}

// prints are the fingerprints of the messages of one request. A message that is
// as it came is hashed once.
type prints struct {
	sum sum
	of  []memo // by Origin; zero: not hashed yet
}

// message returns the fingerprint of a message: of all that is told of it, its
// texts as they were written.
func (p *prints) message(m *compact.Message) memo {
	asItCame := m.Origin >= 0 && !m.Edited
	if asItCame && m.Origin < len(p.of) && p.of[m.Origin] != (memo{}) {
		return p.of[m.Origin]
	}
	s := &p.sum
	s.ints(m.Origin, int(m.Role), int(m.Shape), int(m.Seal), len(m.Parts), len(m.Calls))
	s.flags(m.EmptyCalls, m.Sound, m.Open, m.Holds, m.Edited)
	s.text(m.Name)
	s.text(m.Answers)
	p.content(m.Reasoning)
	p.content(m.Refusal)
	for i := range m.Parts {
		part := &m.Parts[i]
		s.ints(int(part.Kind))
		s.flags(part.Thought)
		s.text(part.Detail)
		p.content(part.Text)
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		s.ints(int(c.Kind))
		s.flags(c.Sealed)
		s.text(c.ID)
		s.text(c.Name)
		p.content(c.Arguments)
	}
	print := s.end()
	if asItCame {
		if n := m.Origin + 1 - len(p.of); n > 0 {
			p.of = append(p.of, make([]memo, n)...)
		}
		p.of[m.Origin] = print
	}
	return print
}

// left returns the fingerprint of a message that has left, or is about to: by its
// bytes, if they were hashed already. Markers move through the newest messages of a
// conversation; they are part of the bytes, and not of the texts.
func (p *prints) left(m *compact.Message) memo {
	if m.Sum == (compact.Sum{}) || m.Edited {
		return p.message(m)
	}
	return m.Sum.Hash
}

func (p *prints) content(t compact.Text) {
	source, encoded := t.Source()
	p.sum.flags(encoded)
	p.sum.text(source)
}

// of returns the fingerprints of a request's messages, and the memo of who sent it
// and of how texts for it are cut.
func (s *Service) of(r *Request) (*prints, memo) {
	if r.prints == nil {
		r.prints = &prints{sum: sum{seeds: s.seeds}}
		h := &r.prints.sum
		credentials := access.Credentials(r.Header)
		h.ints(len(credentials))
		for _, v := range credentials {
			h.text(v)
		}
		for _, v := range []string{r.Policy, r.Version, r.Counting, r.Query, r.Upstream.String()} {
			h.text(v)
		}
		r.from = h.end()
		r.who, r.erasures = s.who(r.Owner), s.erasures.Load()
	}
	return r.prints, r.from
}

// nameOf names the slot of the coming epoch, of which nothing is known but what came
// before the warm mark.
func (s *Service) nameOf(r *Request, in compact.Conversation, f *compact.Forecast) memo {
	p, from := s.of(r)
	h := sum{seeds: s.seeds}
	h.memo(from)
	h.ints(len(r.Pins))
	h.ints(r.Pins...)
	b := &r.Budget
	h.ints(b.Tokens, b.Placing, b.Step, b.Limit, b.Newest, b.Hard, b.Messages, in.Fixed, in.Unbind, f.Mark)
	for _, r := range in.Rates {
		h.ints(r.From, r.Percent, r.Extra)
	}
	for i := range in.Messages[:min(f.Sources, len(in.Messages))] {
		h.memo(p.left(&in.Messages[i]))
	}
	return h.end()
}

// A told is one call of a record.
type told struct {
	lost, kept []compact.Message
	size       int
	anew       bool
}

// after names what a record says that is told t after all that was told it before.
func (s *Service) after(before memo, p *prints, t *told) memo {
	h := sum{seeds: s.seeds}
	h.memo(before)
	h.ints(t.size, len(t.lost), len(t.kept))
	h.flags(t.anew)
	for i := range h.buf {
		h.buf[i] = slices.Grow(h.buf[i], 16*(len(t.lost)+len(t.kept)))
	}
	for i := range t.lost {
		h.memo(p.left(&t.lost[i]))
	}
	for i := range t.kept {
		h.memo(p.message(&t.kept[i]))
	}
	return h.end()
}
