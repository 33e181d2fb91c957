package plan

import (
	"cmp"
	"slices"

	"laconic/compact"
	"laconic/proxy/wire"
)

// byteWeighted counts so that a plan within the budget of tokens is within a limit
// of bytes too: each piece costs its share of the one or of the other,
// whichever is larger. A picture of a megabyte is then as heavy as it is for an
// upstream that takes two, and text is what it was.
type byteWeighted struct {
	compact.Counter
	tokens, bytes int // the budget, and the limit
}

func (w byteWeighted) weigh(tokens, bytes int) int {
	return max(tokens, int((int64(bytes)*int64(w.tokens)+int64(w.bytes)-1)/int64(w.bytes)))
}

// framing is what a message, a call or a picture takes in a body beside its
// texts, in bytes, or somewhat more.
const framing = 64

func bytesOf(t compact.Text) int {
	source, _ := t.Source()
	return len(source)
}

func (w byteWeighted) Envelope(m *compact.Message) int {
	return w.weigh(w.Counter.Envelope(m), framing+len(m.Name)+len(m.Answers)+bytesOf(m.Reasoning)+bytesOf(m.Refusal))
}

func (w byteWeighted) Part(m *compact.Message, p *compact.Part) int {
	bytes := bytesOf(p.Text)
	if p.Kind != compact.KindText {
		bytes += framing
	}
	return w.weigh(w.Counter.Part(m, p), bytes)
}

func (w byteWeighted) Call(c *compact.Call) int {
	return w.weigh(w.Counter.Call(c), framing+len(c.ID)+len(c.Name)+bytesOf(c.Arguments))
}

// lighten makes the plan of a request whose body is larger than what the upstream
// takes: images, sounds and files leave first. The report of the plan that looks at
// tokens alone stays the account of what the request costs.
func (p *Plan) lighten(req *wire.Request, in compact.Conversation, shaped *compact.Policy) {
	policy, limit := *shaped, p.Facts.Bytes.Value
	// Texts that are written anew may need more escapes than they are charged.
	w := byteWeighted{Counter: cmp.Or(policy.Counter, p.Counter), tokens: p.Budget.Tokens, bytes: max(1, limit-limit/64)}
	in.Fixed = w.weigh(in.Fixed, len(req.Tools)+len(req.Functions)+len(req.Format))
	policy.Counter, p.bytesToo = w, &w
	p.Terms.SetRecords(p, &policy)
	var light compact.Report
	p.Plan, light = compact.Compact(in, mediaFirst(&policy), w, belowTrigger(&policy, p.Budget))
	report := &p.Report
	report.Epochs, report.Stages, report.MessagesAfter = light.Epochs, light.Stages, light.MessagesAfter
	if light.Epochs > 0 && report.Outcome != compact.Over {
		report.Outcome = compact.Compacted
	}
}

// mediaFirst is a policy that takes media out first, and does not touch text where
// that is enough.
func mediaFirst(p *compact.Policy) *compact.Policy {
	var media, rest []compact.Stage
	for _, s := range p.Ladder {
		if s.Name() == "strip_media" {
			media = append(media, s)
		} else {
			rest = append(rest, onlyIfOver{s})
		}
	}
	with := *p
	with.Ladder, with.Trigger, with.Land = slices.Concat(media, rest), 1, landBytes
	return &with
}

// landBytes is where a plan under a limit of bytes lands. The limit is often known
// from one body alone that was too large, and then it is far below that.
const landBytes = 0.4

// belowTrigger is a budget that ends where an epoch starts under another: what
// is above it is what such a policy takes out.
func belowTrigger(p *compact.Policy, b compact.Budget) compact.Budget {
	share := p.TriggerFor(p.Counter)
	b.Tokens, b.Placing = max(1, int(share*float64(b.Tokens))), max(1, int(share*float64(b.Placing)))
	b.Limit, b.Newest = b.Placing, 0 // the limit on bytes is one
	return b
}

// onlyIfOver is a stage that waits until nothing else helps.
type onlyIfOver struct{ compact.Stage }

func (s onlyIfOver) Shrink(d *compact.Draft) {
	if d.Excess() > 0 || d.OverMessages() > 0 {
		s.Stage.Shrink(d)
	}
}
