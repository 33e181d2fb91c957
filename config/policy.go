package config

import (
	"encoding/json"

	"laconic/compact"
	"laconic/compact/policy"
)

// Policy is how conversations are compacted. In a Config it is resolved:
// what the file leaves out comes from the built-in one of its name, or from adaptive.
type Policy struct {
	Options    json.RawMessage    `json:"options,omitempty"`
	Trigger    Trigger            `json:"trigger,omitempty"` // 0: auto
	Land       float64            `json:"land,omitempty"`
	KeepRecent compact.KeepRecent `json:"keep_recent,omitzero"`
	Repair     string             `json:"repair,omitempty"`
	OnOverflow string             `json:"on_overflow,omitempty"`
	Pin        Pin                `json:"pin,omitzero"`
	Ladder     []Rung             `json:"ladder,omitempty"` // nil: the default ladder; empty: only repair

	// algorithm is the named policy that it is a form of; "": adaptive, whose
	// settings are those above. Of the others only options, repair, on_overflow and
	// pin can be set.
	algorithm string
}

// Pin names messages that may not change.
type Pin struct {
	Roles []string `json:"roles,omitempty"`
	Text  []string `json:"text,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

// DefaultPolicy is the policy of every model that names none.
const DefaultPolicy = "adaptive"

// builtinPolicies are the policies that are there without a file. The file may
// change them.
func builtinPolicies() map[string]Policy {
	all := map[string]Policy{}
	for _, name := range policy.Names() {
		all[name] = Policy{Repair: "answer", OnOverflow: "forward", algorithm: name}
	}
	all[DefaultPolicy] = Policy{
		Land: compact.DefaultLand,
		KeepRecent: compact.KeepRecent{
			Share:     compact.DefaultKeepShare,
			Tokens:    compact.DefaultKeepTokens,
			Exchanges: compact.DefaultKeepExchanges,
		},
		Repair:     "answer",
		OnOverflow: "forward",
	}
	return all
}

// Algorithm returns the named policy that p is a form of; "" for adaptive.
func (p Policy) Algorithm() string { return p.algorithm }
