package proxy

import (
	"net/http"

	"laconic/compact"
	"laconic/proxy/body"
	"laconic/proxy/wire"
)

// sending is what is known of the body that was sent, once it is.
type sending struct {
	report  compact.Report
	sizes   sizes // of the body itself
	bytes   int   // decompressed
	percent int   // the counter's factor, see learn.Count
	asked   int   // tokens of answer that the request asks for; 0: it does not say
	slotted bool
	// answered: the upstream took it, and began to answer; at the end of the
	// answer: it was one.
	answered bool
	packed   bool        // the client's own body was compressed
	about    http.Header // what the client's headers say of its bytes
}

// note keeps a header of the client's that says something of its bytes.
func (s *sending) note(name string, values []string) {
	if s.about == nil {
		s.about = http.Header{}
	}
	s.about[name] = values
}

// sendMeasured sends a chat request that was read. In shadow the client wants
// to see what the upstream makes of its own bytes, so nothing is sent again.
func (t *trip) sendMeasured(in *body.Body, out []byte, req *wire.Request, plan *compact.Plan, info *RewriteInfo, sent sizes) {
	t.sending = sending{
		report: info.Report, sizes: sent, bytes: info.BytesAfter, percent: t.facts.Percent(), asked: req.MaxTokens,
		slotted: plan.Slot != nil, packed: in.Compressed(),
	}
	original := in.Text
	if info.Outcome == Shadow {
		original = nil
		t.sending.slotted = false
	}
	t.send(body.NewOutgoing(out, original, in.Memory))
}

// way is how a request leaves: by RoundTrip below, where it was read.
func (t *trip) way() http.RoundTripper {
	if t.out != nil && t.out.Keeping() {
		return t
	}
	return t.p.transport
}
