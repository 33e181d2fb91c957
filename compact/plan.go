package compact

import "slices"

// An Epoch is one climb of the ladder.
type Epoch struct {
	// At is the request point: the number of messages of the repaired list
	// before it.
	At int `json:"at"`
	// Before and After are the cost of the request at that point, in tokens.
	Before int `json:"before"`
	After  int `json:"after"`
	// Budget is what the epoch planned for: the policy's budget, or more where
	// what must stay leaves less than a quarter of that.
	Budget int `json:"budget"`
	// Recent is the index of the first message that was recent at that point.
	Recent int `json:"-"`
	// Excess is how far above Budget the request still was when the last
	// resort began; 0 if no recent message was cut.
	Excess int `json:"excess,omitempty"`
	// Required is what had to stay at that point, in tokens.
	Required int `json:"required"`
	// Trigger is the cost above which an epoch starts, unless the one before
	// could not land. Land is where the climb was to stop.
	Trigger int `json:"trigger"`
	Land    int `json:"land"`
	// ByMessages is set if the number of messages alone was too large.
	ByMessages bool `json:"crowded,omitempty"`
}

// A Plan is everything that was decided about one conversation, as data, and the list
// that it makes.
type Plan struct {
	// Repair is the mode in which the conversation was repaired.
	Repair RepairMode `json:"repair"`
	// Edits are in the order in which they apply.
	Edits  []Edit  `json:"edits,omitempty"`
	Epochs []Epoch `json:"epochs,omitempty"`
	// Slot is where older exchanges are replaced by one text, or nil.
	Slot *Slot `json:"slot,omitempty"`
	// Demands are met by what [Plan.Apply] returns.
	Demands Demands `json:"demands,omitempty"`

	// The list that it makes, without the texts of a slot, and what Compact made the
	// plan from. They refer to the texts of the conversation.
	result []Message
	holder int // of the slot's texts: the message in result
	in     *input
	fold   *folding // nil: no epoch was due
}

// NewEpoch reports whether the plan's last epoch began with the newest request:
// what was sent before is not the start of what this plan sends.
func (p *Plan) NewEpoch() bool {
	n := len(p.Epochs)
	return n > 0 && p.Epochs[n-1].At == len(p.in.msgs)
}

// Made returns every edit that was made, of which Edits has those that still show: a
// text may have been shortened twice, or before its message left. What the edits of
// stages saved, less what the slot is charged, is what the stages of the report did.
func (p *Plan) Made() []Edit {
	if p.fold == nil {
		return p.Edits
	}
	repairs := slices.DeleteFunc(slices.Clone(p.Edits), func(e Edit) bool { return e.Stage != repairStage })
	return append(repairs, p.fold.d.all()...)
}

// Protects reports whether message i of the repaired list stays as it is, by what is
// known at the end of the list. Where no epoch was due, all messages do.
func (p *Plan) Protects(i int) bool {
	if p.fold == nil {
		return true
	}
	d := p.fold.d
	return d.instructs(i) || d.pinned[i] || d.tells(i) || i == d.newestUser
}

// Costs returns what each message cost as it came, and what it costs as the plan
// leaves it, without what a slot adds; as the policy counts. What is returned is the
// plan's own, and must not be changed. It is nil where the list was repaired or may be
// rewritten for [Demands].
func (p *Plan) Costs() (before, after []int) {
	switch {
	case p.Demands.rewrites() || len(p.Edits) > 0 && p.Edits[0].Stage == repairStage:
		return nil, nil
	case p.fold == nil:
		return p.in.costs, p.in.costs
	}
	return p.in.costs, p.fold.d.cost
}

// A Slot is the place in a plan where older exchanges are replaced by one text.
// The text follows that of the task: a message of its own would
// break chat templates that want users and assistants to alternate, or one
// system message at most.
type Slot struct {
	// From and To bound the run of the repaired list that left for the slot.
	From int `json:"from"`
	To   int `json:"to"`
	// End is the length of the list when the slot was made. The text depends
	// only on the messages before End, on the policy and on the budget.
	End int `json:"end"`
	// At is the index, in the repaired list, of the user message whose text
	// the slot follows. It is -1 if no user message precedes the run; then the
	// text is a message of its own, before message Before.
	At     int `json:"at"`
	Before int `json:"before"`
	// Role is the role of such a message; 0: User.
	Role Role `json:"role,omitempty"`
	// Stage is the name of the stage that made the slot.
	Stage string `json:"-"`
	// Label heads a summary in the slot, as the system does that the policy is
	// known from; "": the frame's own words.
	Label string `json:"label,omitempty"`
	// Size is what the slot is charged, in tokens: the sum of its spans.
	Size int `json:"size"`
	// Spans are the parts of the slot, oldest first, whose texts follow each
	// other. One more epoch adds one more span, or makes one for all.
	Spans []Span `json:"spans"`

	draft        *Draft   // what its texts and messages are made from
	given, texts []string // the last that Texts was given, and returned
}

// A Span is a part of a slot: one run of messages, and the text in its place.
type Span struct {
	// From and To bound the run in the repaired list.
	From int `json:"from"`
	To   int `json:"to"`
	// End is the length of the list when the span was made. The text depends
	// only on the messages before End, on the policy and on the budget.
	End int `json:"end"`
	// Earlier are the ends of the spans that this one replaced, oldest first.
	Earlier []int `json:"earlier,omitempty"`
	// Size is what the span is charged, in tokens. A summary in its place may
	// cost as much.
	Size int `json:"size"`
}

// An Outcome says in one word what happened to a conversation.
type Outcome string

// The outcomes, of which a later one hides an earlier one.
const (
	Untouched Outcome = "untouched"
	Repaired  Outcome = "repaired"
	Compacted Outcome = "compacted"
	Over      Outcome = "over" // still above the budget after everything legal
)

// NoStrategy is the Strategy of a Report if no stage did anything.
const NoStrategy = "none"

// A StageReport counts what one stage did to the conversation as it is sent: edits,
// each message that left and the slot among them, and tokens saved, less what its slot
// is charged.
type StageReport struct {
	Name  string `json:"name"`
	Edits int    `json:"edits"`
	Saved int    `json:"saved"`
}

// A Report is a plan in numbers. Costs are those of the whole request, fixed
// cost included, in tokens of the model's counter; only what stages saved is in
// tokens of the policy's own counter, if it has one.
type Report struct {
	Outcome Outcome `json:"outcome"`
	// Strategy is the last stage of the ladder that did something, or
	// NoStrategy.
	Strategy       string `json:"strategy"`
	Before         int    `json:"before"`
	After          int    `json:"after"`
	Budget         int    `json:"budget"`
	Fixed          int    `json:"fixed"`
	Parts          Parts  `json:"-"` // as the policy counts
	MessagesBefore int    `json:"messages_before"`
	MessagesAfter  int    `json:"messages_after"`
	Epochs         int    `json:"epochs"`
	Repairs        int    `json:"repairs"`
	ResultsDropped int    `json:"results_dropped,omitempty"` // results with content but without a call
	RepairSaved    int    `json:"repair_saved,omitempty"`    // tokens that the repairs saved; negative for additions
	// Stages are what each stage did, in the order of the ladder. What they and the
	// repairs saved is Before without After, where the policy has no counter of its own.
	Stages []StageReport `json:"stages,omitempty"`
	// Roomy is set if the newest results do not fit beside the record, and may take
	// half of what is reserved for the answer. Budget has that, too.
	Roomy bool `json:"-"`
	// Required is what must stay, in tokens, where Budget is that above it: see
	// [Budget.Above].
	Required int `json:"-"`
	// NotEnough is set if the request is above its budget as the policy counts,
	// and held nothing that may leave or be shortened.
	NotEnough bool `json:"not_enough_history,omitempty"`
}

// Did returns what the repair and the stages did.
func (r *Report) Did() []StageReport {
	if r.Repairs == 0 {
		return r.Stages
	}
	return append([]StageReport{{Name: repairStage, Edits: r.Repairs, Saved: r.RepairSaved}}, r.Stages...)
}

// At returns the report in tokens of a counter that a rate corrects. The outcome,
// the budget and the fixed cost stay.
func (r Report) At(rate Rate) Report {
	r.Before, r.After, r.Required = rate.Of(r.Before), rate.Of(r.After), rate.Of(r.Required)
	saved := Rate{Percent: rate.Percent}
	p := &r.Parts
	for _, n := range []*int{&p.Instructions, &p.Task, &p.User, &p.Exchange, &p.Record, &r.RepairSaved} {
		*n = saved.Of(*n)
	}
	r.Stages = slices.Clone(r.Stages)
	for i := range r.Stages {
		r.Stages[i].Saved = saved.Of(r.Stages[i].Saved)
	}
	return r
}

// Sent notes that the request sent costs after tokens, under the budget b. The
// outcome is Over if that is too much, and what was done otherwise.
func (r *Report) Sent(after int, b Budget) {
	b = b.withDefaults(Rules{})
	if after > b.most() || r.Roomy {
		b = b.Above(r.Required)
	}
	if r.Roomy {
		b.Tokens = b.Room()
	}
	r.After, r.Budget = after, b.most()
	switch {
	case after > b.most() || r.MessagesAfter > b.Messages:
		r.Outcome = Over
	case r.Epochs > 0 || len(r.Stages) > 0:
		r.Outcome = Compacted
	case r.Repairs > 0:
		r.Outcome = Repaired
	default:
		r.Outcome = Untouched
	}
}
