package compact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A Policy says how a conversation is compacted. The zero value of a field is
// its stated default. A Policy is read only and may be shared.
type Policy struct {
	// Name is the name in logs.
	Name string
	// Version tells policies of one name apart, for callers that remember texts and
	// may get another policy of that name; "": there is one alone.
	Version string
	// Trigger is the share of the budget above which an epoch starts; 0: 0.95
	// with exact counts, 0.85 with estimates, 0.5 where a prompt cache saves
	// nothing. Above 0, at most 1.
	Trigger float64
	// CachedPrice is what a token costs that the provider's prompt cache serves,
	// where any other costs 1; 0: 0.1. At 1 there is no cache.
	CachedPrice float64
	// Land is where an epoch stops, as a share of the headroom above what must
	// stay; 0: 0.40. Below Trigger.
	Land float64
	// Warm is where the text for the slot begins to be prepared, as a share of
	// the headroom above what must stay; 0: 0.70. It fixes which exchanges the
	// slot of the next epoch stands for.
	Warm float64
	// KeepRecent says what at the end of the conversation stays as it is.
	KeepRecent KeepRecent
	// Repair says what happens to a call without a result.
	Repair RepairMode
	// Reject is set if a request that is over budget in the end is refused
	// instead of forwarded.
	Reject bool
	// Pins are the messages that may not change.
	Pins Pins
	// Ladder is the stages in order, least harmful first.
	Ladder []Stage
	// Left reports whether nobody waits for the plan any more: it then ends before the
	// next epoch, and its record before the next message. nil: somebody waits.
	Left func() bool
	// Summaries is set if the caller may have summaries for the slot. Then the
	// warm mark fixes which messages the next span is for, so that its summary
	// can be prepared. Otherwise that is all that is old at the epoch.
	Summaries bool
	// Records makes the record of a slot in place of its Digester, if it is not
	// nil: for callers that remember what a record was told and what it said.
	Records func(by Digester, c Counter, left func() bool) Recorder
	// Demands are what the upstream's template asks of the list that is sent.
	Demands Demands
	// Placement says where the text of a slot goes; "": PlaceAuto.
	Placement Placement
	// Counter replaces the model's own counter, if it is not nil.
	Counter Counter
	// PerRequest makes the policy compact each request on its own instead of
	// folding the conversation, if it is not nil.
	PerRequest *PerRequest
}

// PerRequest is how a policy compacts that does not fold, as most compactors
// work: the only request point is the end of the list, and what was sent before
// is not repeated, so the promise stable does not hold. What must stay is
// instructions, pins and the task; what leaves besides is up to
// the stages.
type PerRequest struct {
	// Start is a number of tokens above which an epoch starts even below
	// Trigger; 0: none.
	Start int
	// Inclusive makes an epoch start at Trigger, not only above it.
	Inclusive bool
	// FullLadder sets Land to what must stay, so that every stage runs: the
	// stages themselves decide when to stop.
	FullLadder bool
}

// TriggerFor returns Trigger, or its default: exact counts need less reserve for
// their error. Without a prompt cache every request pays for all of its history, so
// epochs start earlier.
func (p *Policy) TriggerFor(c Counter) float64 {
	switch {
	case p.Trigger > 0:
		return p.Trigger
	case p.CachedPrice >= 1:
		return DefaultTriggerUncached
	case c.Exact():
		return DefaultTriggerExact
	}
	return DefaultTriggerEstimate
}

// A Placement says where the text of a slot goes.
type Placement string

// The placements: after the text of the task, to which no chat
// template can object; as a system message of its own after the instructions
// at the head of the list, as some well-known compactors do; or nowhere, for an
// upstream that takes neither.
const (
	PlaceAuto   Placement = "auto"
	PlaceSystem Placement = "system"
	PlaceNone   Placement = "none"
)

// KeepRecent measures the recent exchanges, back from a request point: as many
// as fit into Share of the headroom and into Tokens, but at least Exchanges.
// Messages between them are recent too. With Messages, the recent messages may
// begin within an exchange: what is before them may be shortened, but leaves
// only whole.
type KeepRecent struct {
	Share     float64 `json:"share,omitempty"`     // of the headroom above what must stay; 0: 0.1
	Tokens    int     `json:"tokens,omitempty"`    // at most; 0: 20,000
	Exchanges int     `json:"exchanges,omitempty"` // exchanges with an assistant message, at least; 0: 1
	Messages  int     `json:"messages,omitempty"`  // above 0: the last N messages, instead of all that
}

// A Stage is one way to save tokens: one rung of the ladder. It edits a Draft,
// oldest messages first, and stops when d.Over() is 0. A stage is pure and keeps
// nothing between two calls.
type Stage interface {
	Name() string
	Shrink(d *Draft)
}

// The defaults of a Policy. The shares were chosen by measurement on real agent
// runs.
const (
	DefaultTriggerExact    = 0.95
	DefaultTriggerEstimate = 0.85
	DefaultTriggerUncached = 0.50
	DefaultCachedPrice     = 0.1
	DefaultLand            = 0.40
	DefaultWarm            = 0.70
	DefaultKeepShare       = 0.10
	DefaultKeepTokens      = 20_000
	DefaultKeepExchanges   = 1
)

// Pins name messages that may not change. A pin covers its whole exchange, except for
// instructions behind results, which stay without those.
type Pins struct {
	Roles    []string         // names as of Message.RoleName
	Text     []*regexp.Regexp // matched with the texts of a message
	Tools    []*regexp.Regexp // matched with the names of called tools: see ToolPatterns
	Messages []int            // indices in the client's list
}

// ToolPatterns returns expressions for Pins.Tools that match names. In a name, *
// stands for any run of characters.
func ToolPatterns(names ...string) (all []*regexp.Regexp) {
	for _, n := range names {
		all = append(all, regexp.MustCompile("^(?s:"+strings.ReplaceAll(regexp.QuoteMeta(n), `\*`, ".*")+")$"))
	}
	return all
}

// mask returns, for each message, whether it is pinned, or kept by its wire. start
// has the first message of each one's exchange.
func (p *Pins) mask(msgs []Message, start []int32) []bool {
	mask := make([]bool, len(msgs))
	named := make(map[int]bool, len(p.Messages))
	for _, i := range p.Messages {
		named[i] = true
	}
	for i := range msgs {
		m, first := &msgs[i], int(start[i])
		mask[i] = mask[first]
		if mask[i] || !m.kept() && !p.holds(m) && (m.Origin == Added || !named[m.Origin]) {
			continue
		}
		mask[i] = true
		for k := first; k < i && !m.Role.Instruction(); k++ {
			mask[k] = true
		}
	}
	return mask
}

// holds reports whether a rule of p names m.
func (p *Pins) holds(m *Message) bool {
	matches := func(all []*regexp.Regexp, text string) bool {
		return slices.ContainsFunc(all, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	}
	return slices.Contains(p.Roles, m.RoleName()) ||
		slices.ContainsFunc(m.Calls, func(c Call) bool { return matches(p.Tools, c.Name) }) ||
		len(p.Text) > 0 && slices.ContainsFunc(m.Parts, func(t Part) bool { return t.Kind == KindText && matches(p.Text, t.Text.String()) })
}

// repair returns how conversations are repaired.
func (p *Policy) repair() RepairMode { return cmp.Or(p.Repair, RepairAnswer) }

// A Recorder writes the text of a slot, part by part. It returns the next part: what
// lost says that neither kept nor the parts before say, in at most size tokens, or ""
// if size is too small. lost are the messages that left or were shortened since the
// last call, as they came; kept are those that the model still reads, as they are now.
// With anew the part replaces all parts before, and is for all that was lost. The text
// must be a function of the calls made, as long as somebody waits for it.
type Recorder func(lost, kept []Message, size int, anew bool) string

// A Digester is a stage that can describe messages in a text.
type Digester interface {
	Stage
	// Record returns an empty record, whose texts are counted by c. Once left reports
	// that nobody waits for them, they may be any.
	Record(c Counter, left func() bool) Recorder
}
