package digest

import (
	"regexp"
	"strings"

	"laconic/compact"
)

// relays begins a message of a user in which ADK tells an agent of other agents.
const relays = "For context:\n"

// relayed finds in it what another agent said, a call of that agent, and the result of a call.
var relayed = regexp.MustCompile("(?m)^\\[([^\\]\n]+)\\] (?:(said): |called tool `([^`\n]+)` with parameters: |`([^`\n]+)` tool returned result: )")

// relays reports whether a message tells of other agents.
func (m *message) relays() bool {
	return m.role == compact.User && strings.HasPrefix(m.text, relays)
}

// relay notes what a message tells of other agents, as if it were the assistant's own.
func (r *Record) relay(m *message) {
	text := strings.TrimPrefix(m.text, relays)
	marks := relayed.FindAllStringSubmatchIndex(text, -1)
	for i, at := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		group := func(n int) string { return text[max(0, at[2*n]):max(0, at[2*n+1])] }
		said := strings.TrimSpace(text[at[1]:end])
		id := "[" + group(1) + "] " + group(3) + group(4)
		switch {
		case group(2) != "":
			r.happened(&event{by: byAgent, origin: m.origin, words: said, final: i+1 == len(marks)})
		case group(3) != "":
			r.calls[id] = r.happened(&event{by: byCall, origin: m.origin, action: actionOf(group(3), valueOfYAML(said))})
		default:
			e := r.calls[id]
			if e == nil || e.answered {
				e = r.happened(&event{by: byCall, origin: m.origin, action: actionOf(group(4), value{})})
			}
			r.answer(e, resultOf(said, e.kind))
		}
	}
}
