package proxy

import (
	"cmp"
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
	"laconic/proxy/wire"
)

// The request headers that steer one request. They are honoured only with
// Options.Overrides, and never reach the upstream.
const (
	headerMode   = "X-Laconic-Mode"   // on, off or shadow
	headerPolicy = "X-Laconic-Policy" // the name of a policy
	headerBudget = "X-Laconic-Budget" // tokens of prompt
	headerPin    = "X-Laconic-Pin"    // indices in the client's list, as in 0,4,5
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

// mode is how the request is dealt with: as its header asks, else as its route
// says.
func (x *request) mode() string {
	return cmp.Or(x.overrides.mode, x.route.Mode, ModeOn)
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
	// unknown are the names of other x-laconic-* headers.
	unknown []string
	// unmatched is how many of the pins name no element of the client's list.
	unmatched int
}

// readOverrides reads the x-laconic-* headers of the request, and tells the listener of
// those that there are not. A value that cannot be followed is refused: to ignore it
// would do something else than what was asked for, and the client would not know.
// Without Overrides nothing is read.
func (x *request) readOverrides() (no *apierror.Error) {
	o, h := &x.overrides, x.r.Header
	if !x.settings.Overrides {
		return nil
	}
	for name := range h {
		if ours(name) && !slices.Contains(known, name) {
			o.unknown = append(o.unknown, strings.ToLower(apierror.Clip(name, 64)))
		}
	}
	slices.Sort(o.unknown)
	o.unknown = o.unknown[:min(len(o.unknown), mostIgnored)]
	for _, name := range o.unknown {
		if _, reported := x.p.ignored.Load(name); !reported && x.p.ignoredCount.Add(1) <= mostReported {
			x.p.ignored.Store(name, true)
			x.p.listener.Ignored(IgnoredInfo{ID: x.info.ID, Header: name})
		}
	}
	read := func(name, hint string, takes func(v string) bool) {
		if v := h[name]; no == nil && (len(v) > 1 || len(v) == 1 && !takes(strings.TrimSpace(v[0]))) {
			no = malformed(name, hint)
		}
	}
	read(headerMode, "It is on, off or shadow.", func(v string) bool {
		o.mode = v
		return slices.Contains([]string{ModeOn, ModeOff, ModeShadow}, v)
	})
	read(headerPolicy, "It is the name of one policy of the configuration.", func(v string) bool {
		o.policy = x.settings.Policies[v]
		return o.policy != nil
	})
	read(headerBudget, "It is one number of tokens, from 1 to 1000000000.", func(v string) bool {
		n, err := strconv.ParseUint(v, 10, 64)
		o.budget = int(n)
		return err == nil && n >= 1 && n <= maxBudget
	})
	read(headerTags, "It is at most 256 printable characters.", func(v string) bool {
		o.tags = v
		return utf8.ValidString(v) && utf8.RuneCountInString(v) <= maxTags && !strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) })
	})
	if lines := h.Values(headerPin); len(lines) > 0 {
		for v := range strings.SplitSeq(strings.Join(lines, ","), ",") {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 31)
			if err != nil || len(o.pins) == maxPins {
				return cmp.Or(no, malformed(headerPin, "It is a list of at most 4096 message indices, as in 0,4,5."))
			}
			o.pins = append(o.pins, int(n)) // one that names no message pins nothing: see headerIgnored
		}
		slices.Sort(o.pins)
	}
	return no
}

// policy returns the policy of the request, with the client's pins. It counts those of no element.
func (x *request) policy(req *wire.Request) *compact.Policy {
	p := *cmp.Or(x.overrides.policy, x.route.Policy)
	if pins := x.overrides.pins; len(pins) > 0 {
		pins, x.overrides.unmatched = req.At(pins)
		p.Pins.Messages = slices.Concat(p.Pins.Messages, pins)
	}
	return &p
}

func malformed(header, hint string) *apierror.Error {
	name := strings.ToLower(header)
	return &apierror.Error{
		Status: http.StatusBadRequest, Code: "invalid_header", Param: name,
		Message: "Invalid value for the request header '" + name + "'.", Hint: hint,
	}
}

// ours reports whether a header is one of x-laconic-*, known or not.
func ours(name string) bool {
	return strings.HasPrefix(access.Dashed(name), "x-laconic-")
}

// headerIgnored says what of a request's x-laconic-* headers did nothing: the
// name of one that there is not, or x-laconic-pin;unmatched=2 for indices of no
// element. A client may pin what it sends later, so that is not refused.
const headerIgnored = "X-Laconic-Ignored"

// IgnoredInfo is a request header x-laconic-… that there is not. It is told once
// for each name.
type IgnoredInfo struct {
	ID     string // of the first request that has it
	Header string // at most 64 bytes
}

// known are the request headers that there are.
var known = []string{headerMode, headerPolicy, headerBudget, headerPin, headerTags, summarize.Header}

// Names of headers come from clients: so many are named in an answer, and so
// many in the log.
const (
	mostIgnored  = 8
	mostReported = 100
)
