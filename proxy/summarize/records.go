package summarize

import (
	"fmt"
	"sync"

	"laconic/compact"
	"laconic/proxy/access"
)

// Records returns a Records of [compact.Policy] for one request, whose records
// remember what was said. A record that was told the same is not asked again: the
// next request of a conversation has the digests of the one before.
//
// The key of a text is a chain of hashes of all that a record was told, and of who
// sent the request. So what is remembered may be dropped at any time, and nobody
// gets a text that was made from another's messages.
func (s *Service) Records(r *Request) func(by compact.Digester, c compact.Counter, left func() bool) compact.Recorder {
	known, erasures := prints{}, s.erasures.Load()
	return func(by compact.Digester, c compact.Counter, left func() bool) compact.Recorder {
		from := append(access.Credentials(r.Header), r.Policy, r.Version, r.Counting, r.Query, r.Upstream.String(), by.Name())
		said := s.seeds.of(fmt.Sprintf("%q", from))
		made := sync.OnceValue(func() compact.Recorder { return by.Record(c, left) })
		return (&recorder{s: s, prints: known, who: s.seeds.of(s.group(r.Owner)), erasures: erasures, by: made, left: left, said: said}).add
	}
}

// recorder is a record that asks another only for what is not remembered.
type recorder struct {
	s        *Service
	prints   prints
	who      memo   // of the owner
	erasures uint64 // when the request began; see add
	by       func() compact.Recorder
	left     func() bool     // nobody waits for what by says
	said     memo            // names what it said last
	pending  []func() string // tell by what it was not told yet
}

// add is a [compact.Recorder].
func (r *recorder) add(lost, kept []compact.Message, size int, anew bool) string {
	all := []any{r.said, size, len(lost), anew}
	for i := range lost {
		all = append(all, r.prints.left(r.s.seeds, &lost[i]))
	}
	for i := range kept {
		all = append(all, r.prints.message(r.s.seeds, &kept[i]))
	}
	r.said = r.s.seeds.of(all...)
	r.pending = append(r.pending, func() string { return r.by()(lost, kept, size, anew) })
	if t, ok := r.s.texts.GetIfPresent(r.said); ok {
		return t.text
	}
	says := ""
	for _, tell := range r.pending {
		says = tell()
	}
	r.pending = nil
	if !r.left() && r.s.erasing.TryRLock() {
		if r.erasures == r.s.erasures.Load() { // else something was erased since the request began
			r.s.texts.Set(r.said, keptText{who: r.who, text: says})
		}
		r.s.erasing.RUnlock()
	}
	return says
}
