package summarize

import "laconic/compact"

// Records returns a Records of [compact.Policy] for one request, whose records
// remember what was said. A record that was told the same is not asked again: the
// next request of a conversation has the digests of the one before.
//
// The key of a text is a chain of hashes of all that a record was told, and of who
// sent the request. So what is remembered may be dropped at any time, and nobody
// gets a text that was made from another's messages.
func (s *Service) Records(r *Request) func(by compact.Digester, c compact.Counter) compact.Recorder {
	return func(by compact.Digester, c compact.Counter) compact.Recorder {
		_, from := s.of(r)
		h := s.seeds.sum()
		add(h, from)
		add(h, by.Name())
		return (&recorder{s: s, r: r, make: func() compact.Recorder { return by.Record(c) }, said: h.end()}).add
	}
}

// recorder is a record that asks another only for what is not remembered.
type recorder struct {
	s       *Service
	r       *Request
	make    func() compact.Recorder
	by      compact.Recorder // nil: not asked yet
	said    memo             // names what it said last
	pending []told           // what by was not told yet
}

// add is a [compact.Recorder].
func (r *recorder) add(lost, kept []compact.Message, size int, anew bool) string {
	call := told{lost, kept, size, anew}
	p, _ := r.s.of(r.r)
	r.said = r.s.after(r.said, p, &call)
	r.pending = append(r.pending, call)
	if t, ok := r.s.texts.GetIfPresent(r.said); ok {
		return t.text
	}
	if r.by == nil {
		r.by = r.make()
	}
	says := ""
	for _, t := range r.pending {
		says = r.by(t.lost, t.kept, t.size, t.anew)
	}
	r.pending = nil
	r.s.keep(r.r, r.said, says)
	return says
}
