package proxy

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/summarize"
)

// The request headers that steer one request. They are honoured only with
// Options.Overrides, and never reach the upstream.
const (
	headerMode   = "X-Laconic-Mode"   // on, off or shadow
	headerPolicy = "X-Laconic-Policy" // the name of a policy
	headerBudget = "X-Laconic-Budget" // tokens of prompt
	headerPin    = "X-Laconic-Pin"    // indices of messages, as in 0,4,5
	headerTags   = "X-Laconic-Tags"   // for the log
)

const (
	maxPins   = 4096          // indices in x-laconic-pin
	maxTags   = 256           // characters of x-laconic-tags
	maxBudget = 1_000_000_000 // tokens in x-laconic-budget
)

// The modes, of x-laconic-mode and of Route.Mode.
const (
	ModeOn     = "on"     // the default: repaired, and compacted when over
	ModeOff    = "off"    // sent as it came
	ModeShadow = "shadow" // measured and reported, sent as it came
)

var modes = []string{ModeOn, ModeOff, ModeShadow}

// mode is how the request is dealt with: as its header asks, else as its route
// says.
func (x *request) mode() string {
	if x.overrides.mode == "" && x.route != nil && x.route.Mode != "" {
		return x.route.Mode
	}
	return cmp.Or(x.overrides.mode, ModeOn)
}

// bypassed says in a word why the request goes out as it came, not even
// measured; "" when it does not. in may be nil. A header that asks for a mode
// asks for it whatever the size.
func (x *request) bypassed(in *body.Body) string {
	switch {
	case x.mode() == ModeOff:
		return "mode"
	case in != nil && x.overrides.mode == "" && int64(len(in.Text)) < x.route.MinBody:
		return "small"
	}
	return ""
}

// overrides are what the x-laconic-* headers of one request ask for.
type overrides struct {
	mode   string // "": none was asked for
	policy *compact.Policy
	budget int
	pins   []int
	tags   string
}

// policy returns the policy of the request, with the client's pins.
func (x *request) policy() *compact.Policy {
	p := x.route.Policy
	if x.overrides.policy != nil {
		p = x.overrides.policy
	}
	if len(x.overrides.pins) > 0 {
		with := *p
		with.Pins.Messages = slices.Concat(p.Pins.Messages, x.overrides.pins)
		p = &with
	}
	return p
}

// readOverrides reads the headers of a request. One that cannot be followed is
// refused: to ignore it would do something else than what was asked for, and the
// client would not know. Without Overrides nothing is read.
func (s *settings) readOverrides(h http.Header) (o overrides, no *apierror.Error) {
	if !s.Overrides {
		return o, nil
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !ours(name) {
			continue
		}
		if hint := o.set(s, name, strings.TrimSpace(strings.Join(h[name], ","))); hint != "" {
			name = strings.ToLower(apierror.Clip(name, 64))
			return o, &apierror.Error{
				Status: http.StatusBadRequest, Code: "invalid_header", Param: name,
				Message: "Invalid value for the request header '" + name + "'.", Hint: hint,
			}
		}
	}
	return o, nil
}

// set follows a header, and returns what it has to be where it cannot be followed.
// A pin may name a message that the client sends later.
func (o *overrides) set(s *settings, name, value string) (hint string) {
	switch name {
	case summarize.Header: // it names the requests of a summarizer
	case headerMode:
		if o.mode = value; !slices.Contains(modes, value) {
			return "It is on, off or shadow."
		}
	case headerPolicy:
		if s.PolicyNamed != nil {
			o.policy = s.PolicyNamed(value)
		}
		if o.policy == nil {
			return "There is no policy of that name."
		}
	case headerBudget:
		n, err := strconv.Atoi(value)
		if o.budget = n; err != nil || n < 1 || n > maxBudget {
			return "It is a number of tokens from 1 to 1000000000."
		}
	case headerPin:
		for v := range strings.SplitSeq(value, ",") {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 31)
			if err != nil || len(o.pins) == maxPins {
				return "It is a list of at most 4096 message indices, as in 0,4,5."
			}
			o.pins = append(o.pins, int(n))
		}
	case headerTags:
		if o.tags = value; !printable(value, maxTags) {
			return "It is at most 256 printable characters."
		}
	default:
		return "There is no such header."
	}
	return ""
}

func printable(s string, most int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// ours reports whether a header is one of x-laconic-*, known or not.
func ours(name string) bool {
	return strings.HasPrefix(access.Dashed(name), "x-laconic-")
}
