package summarize

import (
	"hash/maphash"
	"io"
	"strconv"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/fingerprint"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// memo names the text of a slot inside this process: a hash, under secret
// seeds, of everything that the text depends on and of the credentials of the
// request. Clients choose the texts, so the seeds are new with each process.
type memo [2]uint64

type seeds [2]maphash.Seed

func newSeeds() seeds { return seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// place is where a slot is and what it stands for, without its text.
type place struct{ from, to, end, at, before, size, sources int }

func placeOf(s *compact.Slot) place {
	return place{s.From, s.To, s.End, s.At, s.Before, s.Size, s.Sources}
}

func (s *Service) memo(r *Request, in compact.Conversation, p place, edits []compact.Edit) memo {
	var a, b maphash.Hash
	a.SetSeed(s.seeds[0])
	b.SetSeed(s.seeds[1])
	h := fingerprint.New(io.MultiWriter(&a, &b))
	h.AsWritten = true
	for _, v := range access.Credentials(r.Header) {
		h.Text(v)
	}
	h.Text(r.Policy)
	h.Text(r.Counting)
	h.Text(r.Upstream.String())
	h.Text(r.Query)
	h.Ints(len(r.Pins))
	h.Ints(r.Pins...)
	h.Ints(r.Budget.Tokens, r.Budget.Placing, r.Budget.Step, r.Budget.Limit, r.Budget.Messages, in.Fixed)
	h.Ints(p.from, p.to, p.end, p.at, p.before, p.size)
	for i := range edits {
		if e := &edits[i]; e.At < p.end {
			h.Text(string(e.Op))
			h.Ints(e.At, e.End, e.Part, len(e.Text))
		}
	}
	for i := range in.Messages[:min(p.sources, len(in.Messages))] {
		h.Message(&in.Messages[i])
	}
	return memo{a.Sum64(), b.Sum64()}
}

// gap names the messages that a slot stands for, in every process.
type gap struct {
	// keys name the gap's summary in the store, behind those of the gaps that
	// the conversation had before, oldest first.
	keys     []store.Key
	messages int
}

func (g *gap) key() store.Key { return g.keys[len(g.keys)-1] }

// gap returns the names of a slot's gap. It reads all its messages, once in a
// process.
func (s *Service) gap(r *Request, in compact.Conversation, slot *compact.Slot, key memo) gap {
	if g, ok := s.gaps.GetIfPresent(key); ok {
		return g
	}
	var g gap
	list := fingerprint.NewChain(nil)
	if m := task(in); m != nil {
		list.Add(m)
	}
	for _, span := range slot.Spans() {
		for i := range span {
			list.Add(&span[i])
		}
		g.messages += len(span)
		g.keys = append(g.keys, s.storeKey(r, string(list.Sum())))
	}
	if len(g.keys) == 0 {
		panic("BUG: a slot that stands for nothing")
	}
	s.gaps.Set(key, g)
	return g
}

// format is the format of a stored summary: that of its key, and the versions of
// all that the text depends on beside what the key names. It is the first part of
// the key. A store may be older than the program, or shared with another version of
// it: neither finds what the other wrote, which expires like any value.
type format struct{ key, fold, prompt string }

// written is the format of this program. A change of what storeKey names, or of its
// order, raises the version of the key.
var written = format{key: "summary 2", fold: compact.FoldVersion, prompt: prompt.Version}

// storeKey returns the name of a summary in the store, which adds a secret of
// its own. list is the hash of the messages that it stands for.
func (s *Service) storeKey(r *Request, list string) store.Key {
	return s.o.Store.Key(append([]string{
		s.format.key, s.format.fold, s.format.prompt, r.Policy, strconv.FormatBool(s.o.Mask),
		r.Upstream.String(), s.o.Upstream.String(), s.o.Model, list, r.Query,
	}, access.Credentials(r.Header)...)...)
}

// task returns the message that began a conversation: it stays in it, and tells
// the model what matters. It may be nil.
func task(in compact.Conversation) *compact.Message {
	for i := range in.Messages {
		if in.Messages[i].Role == compact.User {
			return &in.Messages[i]
		}
	}
	return nil
}
