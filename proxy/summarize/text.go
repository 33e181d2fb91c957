package summarize

import (
	"cmp"
	"context"
	"time"

	"laconic/compact"
	"laconic/proxy/summarize/prompt"
)

// Text returns the texts for the slot of a plan: for each span its summary, or ""
// if it shows its digest. The account is nil without a slot or a model.
func (s *Service) Text(ctx context.Context, r *Request, in compact.Conversation, plan *compact.Plan) ([]string, *Info) {
	if plan.Slot == nil || !s.Asks() {
		return nil, nil
	}
	f := filling{s: s, r: r, in: in, slot: plan.Slot, spans: make([]filled, len(plan.Slot.Spans))}
	for i := range f.spans {
		f.safely(i, func() { f.spans[i].gap = s.gap(r, in, f.slot, i) })
	}
	slot := f.name()
	shown, wasShown := s.shown.GetIfPresent(slot)
	for i := range f.spans {
		switch {
		case f.spans[i].reason != "":
		case wasShown && shown[i] && r.Bound:
			f.spans[i].reason = "bound" // later thinking is bound to the digest
		default:
			f.safely(i, func() { f.look(ctx, i) })
		}
	}
	waited := f.wait(ctx)
	texts, info := f.account()
	info.Model, info.Duration = s.o.Model, waited
	if info.Digests > 0 || wasShown {
		digests := make([]bool, len(texts))
		for i, text := range texts {
			digests[i] = text == ""
		}
		s.shown.Set(slot, digests)
	}
	return texts, info
}

// filling is the slot of one request while it is filled.
type filling struct {
	s     *Service
	r     *Request
	in    compact.Conversation
	slot  *compact.Slot
	spans []filled
}

// filled is what becomes of one span.
type filled struct {
	gap    gap
	text   string // its summary in the frame, or ""
	reason string // why there is none
	job    *job   // that makes it, if the request may wait
}

// name names the slot and the epoch that made it.
func (f *filling) name() memo {
	all := []any{f.slot.End, f.slot.At, f.slot.Before}
	for i := range f.spans {
		all = append(all, f.spans[i].gap.key, f.slot.Spans[i].Size)
	}
	return f.s.seeds.of(all...)
}

// safely fills a span by do. A panic costs the summary, not the request.
func (f *filling) safely(span int, do func()) {
	defer func() {
		if v := recover(); v != nil {
			f.s.env.Failed(f.r.ID, v)
			f.spans[span] = filled{reason: "fault"}
		}
	}()
	do()
}

// look looks for the summary of a span in the store, and begins it if there is none.
func (f *filling) look(ctx context.Context, span int) {
	s, one, size := f.s, &f.spans[span], f.slot.Spans[span].Size
	if one.gap.messages == 0 || size < leastSize {
		one.reason = small
		return
	}
	if body, ok := s.store.Get(ctx, one.gap.key); ok {
		f.take(span, body)
		return
	}
	if one.reason = f.r.Unwanted; one.reason != "" {
		return
	}
	j, why := s.start(f.r, f.in, one.gap, f.slot, span, f.r.Wait > 0)
	switch {
	case j == nil:
		one.reason = why
	case f.r.Wait <= 0:
		one.reason = "preparing"
	default:
		one.job = j
	}
}

// wait waits for the summaries that are being made, and returns how long it did.
func (f *filling) wait(ctx context.Context) (waited time.Duration) {
	began := time.Now()
	for i := range f.spans {
		one := &f.spans[i]
		if one.job == nil {
			continue
		}
		f.safely(i, func() {
			body, why := one.job.wait(ctx, f.r.Wait-time.Since(began))
			if one.reason = why; why == "" {
				f.take(i, body)
			}
		})
		waited = time.Since(began)
	}
	return waited
}

// ofSpan returns how much of a span's size a summary takes at most. The rest is for the digest
// behind it, which has the users' words, unless that would be too little to say anything.
func ofSpan(size int) int {
	if size < 2*leastSize {
		return size
	}
	return size * 2 / 3
}

// take puts a summary into a span.
func (f *filling) take(span int, summary string) {
	one := &f.spans[span]
	one.text = prompt.Text(f.slot.Label, summary, one.gap.messages, ofSpan(f.slot.Spans[span].Size), costOf(f.r.Counter))
	if one.text == "" {
		one.reason = string(prompt.TooLarge)
	}
}

// small is why a span has no summary that is too small for one.
const small = "small"

// account returns the texts of the spans, and says what became of the slot. The
// reason is that of the newest span which could have a summary and has none.
func (f *filling) account() (texts []string, info *Info) {
	info = &Info{Spans: len(f.spans)}
	for i := range f.spans {
		one := &f.spans[i]
		texts = append(texts, one.text)
		switch {
		case one.text == "":
			if info.Digests++; one.reason != small {
				info.Outcome, info.Reason = Digest, one.reason
			}
		case info.Outcome == Digest, info.Outcome == Made:
		case one.job != nil: // the request waited for it
			info.Outcome = Made
		default:
			info.Outcome = Hit
		}
	}
	switch {
	case info.Digests < info.Spans:
	case f.slot.Digest() == "":
		info.Outcome, info.Reason = None, cmp.Or(info.Reason, small)
	case info.Outcome == "":
		info.Outcome, info.Reason = Digest, small
	}
	return texts, info
}

// Prepare begins the summary of the coming epoch, once a conversation has
// passed the warm mark: that of the span which the epoch will make.
func (s *Service) Prepare(r *Request, in compact.Conversation, plan *compact.Plan) {
	if !s.Asks() || r.Unwanted != "" || s.isCooling(s.credential(r.Header)) {
		return
	}
	_, slot := plan.Forecast()
	if slot == nil {
		return
	}
	last := len(slot.Spans) - 1
	g := s.gap(r, in, slot, last)
	if g.messages == 0 || slot.Spans[last].Size < leastSize {
		return
	}
	if _, made := s.store.Get(s.ctx, g.key); !made {
		s.start(r, in, g, slot, last, false)
	}
}
