package proxy

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strconv"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// gapNames are the names under which a gap's summary, and those of the gaps
// that its conversation had before, are stored.
type gapNames struct {
	keys     []store.Key // one for each epoch, oldest first; the last is this gap's
	messages int
}

func (g *gapNames) key() store.Key { return g.keys[len(g.keys)-1] }

// near is a name of a slot inside this process: a fast hash, under a secret
// seed, of everything that its text depends on.
func (s *summaries) near(t *trip, in compact.Conversation, plan *compact.Plan) (key digestKey) {
	d := s.p.digests
	base := d.key(t.r.Header, t.policy().Name+t.tag(), t.budget, in, plan)
	for i, seed := range d.seeds {
		var h sum
		h.h.SetSeed(seed)
		h.ints(int(base[0]), int(base[1]))
		h.text(t.route.Upstream.String())
		h.text(t.r.URL.RawQuery)
		h.ints(t.orders.pins...)
		key[i] = h.h.Sum64()
	}
	return key
}

// gap names a slot's gap. It reads all its messages once in a process.
func (s *summaries) gap(t *trip, in compact.Conversation, slot *compact.Slot, near digestKey) gapNames {
	if g, ok := s.names.GetIfPresent(near); ok {
		return g
	}
	var g gapNames
	var link []byte
	w := digesting{h: sha256.New()}
	if m := taskOf(in); m != nil {
		link = w.chain(link, m)
	}
	for _, span := range slot.Spans() {
		for i := range span {
			link = w.chain(link, &span[i])
		}
		g.messages += len(span)
		g.keys = append(g.keys, s.o.Store.Key(s.parts(t, link)...))
	}
	if len(g.keys) == 0 {
		panic("BUG: a slot that stands for nothing")
	}
	s.names.Set(near, g)
	return g
}

// parts are what the key of a summary is made of, but for the secret: whoever
// has another credential, another upstream, another summarizer, another policy
// or another history has another summary.
func (s *summaries) parts(t *trip, link []byte) []string {
	return append([]string{
		"summary", prompt.Version, t.policy().Name, strconv.FormatBool(s.o.Mask),
		t.route.Upstream.String(), s.o.Upstream.String(), s.o.Model, string(link),
		t.r.URL.RawQuery, // some clients bring their key there
	}, access.Credentials(t.r.Header)...)
}

// chain is the hash of a list that grew by one message. So the hash of a list
// is also that of every list it began as, on the way.
func (w *digesting) chain(link []byte, m *compact.Message) []byte {
	w.h.Reset()
	w.bytes(link)
	w.message(m)
	return w.h.Sum(nil)
}

// digesting hashes what a model sees of messages: a string and one text part
// are the same, null and absent too, and how the client wrote a text in JSON
// does not count.
type digesting struct {
	h   hash.Hash
	buf []byte // of texts that are written otherwise in JSON
}

func (w *digesting) ints(values ...int) {
	for _, v := range values {
		var buf [8]byte
		binary.BigEndian.PutUint64(buf[:], uint64(v))
		w.h.Write(buf[:])
	}
}

func (w *digesting) bytes(b []byte) {
	w.ints(len(b))
	w.h.Write(b)
}

func (w *digesting) text(s string) {
	w.buf = append(w.buf[:0], s...)
	w.bytes(w.buf)
}

func (w *digesting) read(t compact.Text) {
	w.buf = t.AppendTo(w.buf[:0])
	w.bytes(w.buf)
}

func (w *digesting) message(m *compact.Message) {
	w.ints(int(m.Role), len(m.Parts), len(m.Calls))
	w.text(m.Name)
	w.text(m.Answers)
	for i := range m.Parts {
		w.ints(int(m.Parts[i].Kind))
		w.read(m.Parts[i].Text)
		w.text(m.Parts[i].Detail)
	}
	for i := range m.Calls {
		w.text(m.Calls[i].ID)
		w.text(m.Calls[i].Name)
		w.read(m.Calls[i].Arguments)
	}
}

// taskOf is the message that began a conversation: it stays in it, and tells a
// summarizer what matters.
func taskOf(in compact.Conversation) *compact.Message {
	for i := range in.Messages {
		if in.Messages[i].Role == compact.User {
			return &in.Messages[i]
		}
	}
	return nil
}
