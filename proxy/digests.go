package proxy

import (
	"encoding/binary"
	"hash/maphash"
	"net/http"

	"github.com/maypok86/otter/v2"

	"laconic/compact"
	"laconic/proxy/access"
)

// digestBytes bounds what the remembered digests take.
const digestBytes = 16 << 20

// digests remembers the texts of slots. A digest is a function of the messages
// before its epoch, so every turn of an epoch needs the same one; making it
// reads all of them, which is most of the work of a long history.
//
// The key is a keyed hash of everything that the text depends on, and of the
// credentials of the request, so that nothing of one client is ever looked up
// for another. Clients choose the texts, so the seeds are secret and new with
// each process. A digest that is not found is made: nothing depends on this.
type digests struct {
	seeds [2]maphash.Seed
	texts *otter.Cache[digestKey, string]
}

type digestKey [2]uint64

func newDigests() *digests {
	return &digests{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		texts: otter.Must(&otter.Options[digestKey, string]{
			MaximumWeight: digestBytes,
			Weigher:       func(_ digestKey, text string) uint32 { return uint32(len(text)) + 64 },
		}),
	}
}

// fill is the text for the slot of a plan; "" where there is no slot.
func (d *digests) fill(h http.Header, policy string, b compact.Budget, in compact.Conversation, plan *compact.Plan) string {
	if plan.Slot == nil {
		return ""
	}
	key := d.key(h, policy, b, in, plan)
	if text, ok := d.texts.GetIfPresent(key); ok {
		return text
	}
	text := plan.Slot.Digest()
	d.texts.Set(key, text)
	return text
}

func (d *digests) key(h http.Header, policy string, b compact.Budget, in compact.Conversation, plan *compact.Plan) (key digestKey) {
	who := access.Credentials(h)
	for i, seed := range d.seeds {
		var s sum
		s.h.SetSeed(seed)
		for _, v := range who {
			s.text(v)
		}
		s.text(policy)
		s.ints(b.Tokens, b.Placing, b.Step, b.Limit, b.Messages, in.Fixed)
		slot := plan.Slot
		s.ints(slot.From, slot.To, slot.End, slot.At, slot.Before, slot.Size)
		for _, e := range plan.Edits {
			if e.At < slot.End {
				s.text(string(e.Op))
				s.ints(e.At, e.End, e.Part, len(e.Text))
			}
		}
		for m := range in.Messages[:min(slot.Sources, len(in.Messages))] {
			s.message(&in.Messages[m])
		}
		key[i] = s.h.Sum64()
	}
	return key
}

// sum hashes values so that no two lists of them look the same.
type sum struct{ h maphash.Hash }

func (s *sum) ints(values ...int) {
	for _, v := range values {
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], uint64(v))
		_, _ = s.h.Write(buf[:])
	}
}

func (s *sum) text(v string) {
	s.ints(len(v))
	_, _ = s.h.WriteString(v)
}

func (s *sum) message(m *compact.Message) {
	s.ints(int(m.Role), int(m.Shape), len(m.Parts), len(m.Calls))
	s.text(m.Answers)
	s.text(m.Name)
	reasoning, _ := m.Reasoning.Source()
	s.text(reasoning)
	refusal, _ := m.Refusal.Source()
	s.text(refusal)
	for i := range m.Parts {
		s.ints(int(m.Parts[i].Kind))
		source, _ := m.Parts[i].Text.Source()
		s.text(source)
		s.text(m.Parts[i].Detail)
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		s.text(c.ID)
		s.text(c.Name)
		source, _ := c.Arguments.Source()
		s.text(source)
	}
}
