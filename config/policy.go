package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"laconic/compact"
	"laconic/compact/policy"
	"laconic/compact/stage"
)

// Policy is how conversations are compacted. In a Config it is resolved:
// what the file leaves out comes from the built-in one of its name, or from adaptive.
type Policy struct {
	Options    json.RawMessage    `json:"options,omitempty"`
	Trigger    float64            `json:"trigger,omitempty"` // share of the budget; 0: auto
	Land       float64            `json:"land,omitempty"`
	KeepRecent compact.KeepRecent `json:"keep_recent,omitzero"`
	Repair     string             `json:"repair,omitempty"`
	OnOverflow string             `json:"on_overflow,omitempty"`
	Pin        Pin                `json:"pin,omitzero"`
	Ladder     []Rung             `json:"ladder,omitempty"` // nil: the default ladder; empty: only repair

	// algorithm is the named policy that it is a form of; "": adaptive, whose settings
	// are those above. The others take only options, repair, on_overflow and pin.
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

// policy checks one policy.
func (ch *checking) policy(name string, p Policy) {
	path := "policies." + name
	if p.algorithm != "" {
		ch.algorithm(path, p)
	} else {
		ch.adaptive(path, p)
	}
	for i, text := range p.Pin.Text {
		if _, err := regexp.Compile(text); err != nil {
			at := fmt.Sprintf("%s.pin.text[%d]", path, i)
			ch.at(at, at+" is not a regular expression", "the syntax is RE2")
		}
	}
	for i, tool := range p.Pin.Tools {
		switch at := fmt.Sprintf("%s.pin.tools[%d]", path, i); {
		case tool == "":
			ch.at(at, at+" is empty", "")
		case strings.ContainsAny(tool, "?[]{}\\") || strings.ContainsFunc(tool, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			ch.at(at, at+" holds a character that no tool's name has, so it pins nothing", "only * is special: it stands for any run of characters")
		}
	}
	for i, rung := range p.Ladder {
		if at := fmt.Sprintf("%s.ladder[%d]", path, i); ch.Has(at) && ch.name(at, rung.Name, stage.Names()) {
			_, err := stage.New(rung.Name, rung.Options)
			ch.options(join(at, rung.Name), "the stage "+rung.Name, err)
		}
	}
}

// adaptive checks the settings of adaptive, or of a policy of a new name.
func (ch *checking) adaptive(path string, p Policy) {
	if at := path + ".options"; p.Options != nil && ch.Has(at) {
		ch.atKey(at, at+" is for policies known from other systems: adaptive has none", "its settings are trigger, land, ladder and the like")
	}
	land, trigger, hint := path+".land", p.Trigger, ""
	if trigger == 0 {
		trigger = compact.DefaultTriggerEstimate
		hint = fmt.Sprintf("auto may be %v", trigger)
	}
	if p.Land >= trigger && (ch.Has(land) || ch.Has(path+".trigger")) && !ch.broken(path+".trigger") {
		ch.at(land, land+" must be below the trigger", hint, path+".trigger")
	}
}

// algorithm checks the settings of a policy that has the algorithm of another system.
// The parts of the algorithm cannot be set.
func (ch *checking) algorithm(path string, p Policy) {
	for _, key := range []string{"trigger", "land", "keep_recent", "ladder"} {
		if at := join(path, key); ch.Has(at) {
			ch.atKey(at, at+" cannot be set: it belongs to the algorithm of "+p.algorithm,
				"options, repair, on_overflow and pin can; a policy of a new name is a form of adaptive")
		}
	}
	if at := path + ".options"; p.Options != nil && ch.Has(at) {
		_, err := policy.New(p.algorithm, p.Options)
		ch.options(at, "the policy "+p.algorithm, err)
	}
}
