// Package fold compacts the body of a request in one call, for programs that send
// requests themselves and for gateways. It is what the proxy does to a body, without
// the proxy: no HTTP, no store, no summarizer and nothing learnt.
//
// It promises:
//
//   - untouched: a body that needs nothing, or cannot be read, comes back as the very
//     slice that came in. Otherwise what was not edited keeps its bytes.
//   - the same everywhere: the result is a function of the body and the options, so
//     every replica gives the same bytes, and a longer body begins as the shorter one
//     did until the next epoch. Neither a session nor a sticky route is needed.
//   - counted: tools are counted with the text, by the tokenizer of the model where
//     that is known, and the longest answer, up to half of the window, has room.
//
// Package service serves it over HTTP.
package fold

import (
	"errors"
	"slices"

	"laconic/compact"
	"laconic/compact/handover"
	"laconic/compact/policy"
	"laconic/counting"
	"laconic/proxy/wire"
)

// Options say how a body is compacted. The zero value of a field is its stated
// default.
type Options struct {
	// Wire is the API of the body; nil: that of [wire.Detect].
	Wire wire.Wire
	// Policy compacts; nil: the adaptive policy.
	Policy *compact.Policy
	// Left takes the place of the policy's. Once it reports true, the result is for nobody.
	Left func() bool
	// Counter counts; nil: as the model does that the body names.
	Counter compact.Counter
	// Limits are those of the model. Without a window, that of the built-in table of
	// models, or else compact.DefaultWindow. For a plain number of tokens:
	// Limits{Budget: n}.
	Limits compact.Limits
	// Overhead is what the prompt holds beside the body, in tokens: tools and
	// instructions that somebody else adds.
	Overhead int
}

// ErrShape is returned for a body whose shape is that of no API that is read.
var ErrShape = errors.New("fold: the body is not a request of an API that is read")

// Compact repairs the conversation in a body and folds it under its budget. The body
// must not be written to while Compact runs, or afterwards where it is the result.
//
// The error is ErrShape, or a *wire.PassError that says why the body cannot be read;
// the body comes back with it, as it came. A body that stays above its budget is no
// error: the outcome in the report is compact.Over.
func Compact(body []byte, o Options) ([]byte, compact.Report, error) { return compacted(body, o, nil) }

// compacted is Compact. mend, if it is not nil, changes the messages that the client
// did not send so.
func compacted(body []byte, o Options, mend func(was, edited []compact.Message)) ([]byte, compact.Report, error) {
	if o.Wire == nil {
		if o.Wire = wire.Detect(body); o.Wire == nil {
			return body, compact.Report{}, ErrShape
		}
	}
	req, err := o.Wire.Decode(body)
	if err != nil {
		return body, compact.Report{}, err
	}
	if o.Policy == nil {
		o.Policy, _ = policy.New("adaptive", nil) // whose defaults are no error
	}
	if o.Counter == nil {
		o.Counter, _ = counting.For(req.Model, "") // nor is the model's own tokenizer
	}
	o.Limits = counting.Limits(o.Limits, req.Model, 0)
	if s, ok := o.Counter.(interface{ Sum(raw string) compact.Sum }); ok {
		req.Sum(s.Sum)
	}
	in := req.Conversation
	in.Fixed = o.Counter.Fixed(req.Beside) + o.Overhead
	agent := handover.Of(in.Messages, req.NoCalls, req.Compaction)
	o.Limits.Together = true // no second attempt cures a refusal of prompt and answer
	p := *o.Policy
	if o.Left != nil {
		p.Left = o.Left
	}
	plan, report := agent.Compact(in, &p, o.Counter, o.Limits.Under(in.Rules).For(req.MaxTokens))
	if report.MessagesAfter == 0 { // it says nothing
		return body, report, nil
	}
	edited := plan.Apply()
	if mend != nil && report.Outcome != compact.Untouched {
		edited = slices.Clone(edited)
		mend(in.Messages, edited)
	}
	out, err := req.Encode(edited)
	if err != nil {
		return body, report, err
	}
	return out, report, nil
}
