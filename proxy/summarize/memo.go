package summarize

import (
	"fmt"
	"hash/maphash"

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
type sum [2]maphash.Hash

func (s seeds) sum() *sum {
	h := &sum{}
	for i := range h {
		h[i].SetSeed(s[i])
	}
	return h
}

// add adds a value.
func add[T comparable](s *sum, v T) {
	for i := range s {
		maphash.WriteComparable(&s[i], v)
	}
}

// end returns the hash of the values.
func (s *sum) end() memo { return memo{s[0].Sum64(), s[1].Sum64()} }

// prints are the fingerprints of the messages of one request. A message that is
// as it came is hashed once.
type prints struct {
	seeds seeds
	of    []memo // by Origin; zero: not hashed yet
}

// message returns the fingerprint of a message: of all that is told of it, its
// texts as they were written.
func (p *prints) message(m *compact.Message) memo {
	asItCame := m.Origin >= 0 && !m.Edited
	if asItCame && m.Origin < len(p.of) && p.of[m.Origin] != (memo{}) {
		return p.of[m.Origin]
	}
	s := p.seeds.sum()
	add(s, [...]int{m.Origin, int(m.Role), int(m.Shape), int(m.Seal), len(m.Parts), len(m.Calls)})
	add(s, [...]bool{m.Flawed, m.Sound, m.Open, m.Holds, m.Edited})
	add(s, [...]string{m.Name, m.Answers})
	add(s, content(m.Reasoning))
	add(s, content(m.Refusal))
	for i := range m.Parts {
		part := &m.Parts[i]
		add(s, int(part.Kind))
		add(s, part.Thought)
		add(s, part.Detail)
		add(s, content(part.Text))
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		add(s, int(c.Kind))
		add(s, c.Sealed)
		add(s, [...]string{c.ID, c.Name})
		add(s, content(c.Arguments))
	}
	if asItCame {
		if n := m.Origin + 1 - len(p.of); n > 0 {
			p.of = append(p.of, make([]memo, n)...)
		}
		p.of[m.Origin] = s.end()
	}
	return s.end()
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

// asWritten is a text as the client wrote it.
type asWritten struct {
	source  string
	encoded bool
}

func content(t compact.Text) (w asWritten) {
	w.source, w.encoded = t.Source()
	return w
}

// of returns the fingerprints of a request's messages, and the memo of who sent it
// and of how texts for it are cut.
func (s *Service) of(r *Request) (*prints, memo) {
	if r.prints == nil {
		r.prints = &prints{seeds: s.seeds}
		h := s.seeds.sum()
		for _, v := range append(access.Credentials(r.Header), r.Policy, r.Version, r.Counting, r.Query, r.Upstream.String()) {
			add(h, v)
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
	h := s.seeds.sum()
	add(h, from)
	add(h, fmt.Sprint(r.Pins, r.Budget, in.Fixed, in.Unbind, f.Mark, in.Rates))
	for i := range in.Messages[:min(f.Sources, len(in.Messages))] {
		add(h, p.left(&in.Messages[i]))
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
	h := s.seeds.sum()
	add(h, before)
	add(h, [...]int{t.size, len(t.lost), len(t.kept)})
	add(h, t.anew)
	for i := range t.lost {
		add(h, p.left(&t.lost[i]))
	}
	for i := range t.kept {
		add(h, p.message(&t.kept[i]))
	}
	return h.end()
}
