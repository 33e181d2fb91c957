package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"laconic/compact"
	"laconic/compact/policy"
)

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
		ch.rung(fmt.Sprintf("%s.ladder[%d]", path, i), rung)
	}
}

// adaptive checks the settings of adaptive, or of a policy of a new name.
func (ch *checking) adaptive(path string, p Policy) {
	if at := path + ".options"; p.Options != nil && ch.Has(at) {
		ch.atKey(at, at+" is for policies known from other systems: adaptive has none", "its settings are trigger, land, ladder and the like")
	}
	land, trigger, hint := path+".land", float64(p.Trigger), ""
	if trigger == 0 {
		trigger = compact.DefaultTriggerEstimate
		hint = fmt.Sprintf("auto may be %v", trigger)
	}
	if p.Land >= trigger && (ch.Has(land) || ch.Has(path+".trigger")) && !ch.broken(path+".trigger") {
		ch.at(land, land+" must be below the trigger", hint, path+".trigger")
	}
}

// algorithm checks the settings of a policy that has the algorithm of another
// system. What makes up the algorithm cannot be set.
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
