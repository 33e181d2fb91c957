package compact

import (
	"regexp"
	"strings"
)

// Policy is how a conversation is compacted. The zero value of a field means
// its stated default. A Policy is read only and may be shared.
type Policy struct {
	// Name is what logs call it.
	Name string
	// Trigger is the share of the budget above which an epoch starts; 0: 0.95
	// with exact counts, 0.85 with estimates. Above 0, at most 1.
	Trigger float64
	// Inclusive starts an epoch at Trigger already, not only above it.
	Inclusive bool
	// Start is a number of tokens above which an epoch starts though Trigger
	// lies higher, for policies that are known by such a number; 0: none.
	Start int
	// Land is where an epoch stops, as a share of the room above what must
	// stay; 0: 0.25. Below Trigger.
	Land float64
	// Warm is where a text for the slot begins to be prepared, as a share of
	// the room above what must stay; 0: 0.70. It fixes which exchanges the
	// slot of the next epoch describes.
	Warm float64
	// KeepRecent says what at the end of the conversation stays as it is.
	KeepRecent KeepRecent
	// Repair says what happens to a call that nobody answered.
	Repair RepairMode
	// Reject: a request that is over budget after everything is refused
	// instead of being forwarded as well as it could be made.
	Reject bool
	// Pins are the messages that may not change.
	Pins Pins
	// Ladder is the stages in order, least harmful first.
	Ladder []Stage
	// FullLadder runs every stage of the ladder, whatever Land is: the stages
	// decide by themselves when to stop.
	FullLadder bool
	// Placement says where the text of a slot stands; "": PlaceAuto.
	Placement Placement
	// Once: only the end of the list is a request point. The conversation is
	// not folded: every request is compacted as it comes, as most compactors
	// do, and what was sent before is not repeated. Promise 5 is not kept.
	Once bool
	// Counter counts instead of the model's own, for policies that are known
	// by their numbers; nil: the model's own.
	Counter Counter
}

// TriggerFor is Trigger, or its default where it is 0: with exact counts less has
// to be left for their error.
func (p *Policy) TriggerFor(c Counter) float64 {
	switch {
	case p.Trigger > 0:
		return p.Trigger
	case c.Exact():
		return DefaultTriggerExact
	}
	return DefaultTriggerEstimate
}

// Placement says where the text of a slot stands.
type Placement string

// The placements: behind the text of the first user message, which no chat
// template can object to; or as a system message of its own behind the head,
// as some well-known compactors do it; or nowhere, for an upstream that takes
// neither: what leaves leaves without one.
const (
	PlaceAuto   Placement = "auto"
	PlaceSystem Placement = "system"
	PlaceNone   Placement = "none"
)

// KeepRecent measures the recent exchanges, back from a request point: as many
// as fit into Share of the room and into Tokens, but at least Exchanges. The
// messages between them stay too. Messages may begin within an exchange: what
// is before it may be shortened, but leaves only whole.
type KeepRecent struct {
	Share     float64 // of the room above what must stay; 0: 0.15
	Tokens    int     // at most; 0: 20,000
	Exchanges int     // exchanges with an assistant message, at least; 0: 1
	Messages  int     // if above 0: the last N messages, instead of all that
}

// Pins names messages that may not change. A pin covers its whole exchange.
type Pins struct {
	Roles    []Role
	Text     []*regexp.Regexp // on the text of a message
	Tools    []*regexp.Regexp // on the names of tools: the calls and their results; see Names
	Messages []int            // indices in the client's list
}

// Names makes expressions for Pins.Tools of names in which * stands for any run
// of characters.
func Names(patterns ...string) (all []*regexp.Regexp) {
	for _, p := range patterns {
		all = append(all, regexp.MustCompile("^(?s:"+strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*")+")$"))
	}
	return all
}

// Stage is one way to save tokens: one rung of the ladder. It sees a Draft and
// can do only legal edits on what is neither pinned, nor head, nor recent. It
// goes oldest first, stops when d.Over() is 0, and makes no edit that does not
// save. A stage is pure and keeps nothing between two calls.
type Stage interface {
	Name() string
	Shrink(d *Draft)
}

// Defaults of a Policy, see its fields. The shares were chosen by measurement
// on real agent runs.
const (
	DefaultTriggerExact    = 0.95
	DefaultTriggerEstimate = 0.85
	DefaultLand            = 0.25
	DefaultWarm            = 0.70
	DefaultKeepShare       = 0.15
	DefaultKeepTokens      = 20_000
	DefaultKeepExchanges   = 1
)
