package digest

import (
	"strings"

	"laconic/compact"
)

// part is a part of a record that is being written.
type part struct {
	*Record
	span
	size   int
	names  []*nameStat // that may be written, most likely needed first
	text   strings.Builder
	picked []*action // calls that get a line
}

// The sections' shares of a part's room, each of what the sections before left;
// bare names get the rest. On real agent runs, more calls cost more than they
// helped.
const (
	bindingShare    = 0.40 // for sentences and lines that bind
	readShare       = 0.25 // of that, for lines of results
	userShare       = 0.25 // for sentences of users, whether they bind or not
	changeShare     = 0.10
	changedShare    = 0.25 // for the names of all changed files
	errorShare      = 0.08
	conclusionShare = 0.08
	callShare       = 0.05
	earlierShare    = 0.05
)

// What some sections may take of a small part, in tokens: a sentence that binds,
// another sentence of a user, a line of a result that binds, an error, a call.
const (
	minBinding = 48
	minUser    = 24
	minRead    = 180 // for lines of results that bind, with their headings
	minError   = 64
	minLine    = 24 // for calls
)

const foot = "[End of the record]"

// room returns the room of a part between its head and its foot.
func (p *part) room(head string) int { return p.size - p.cost(head) - p.cost(foot) - 4 }

// write writes the part and returns its text, or "" if it would say nothing.
func (p *part) write(head string) string {
	room := p.room(head)
	p.text.WriteString(head)
	binding := share(room, bindingShare)
	said := p.writeUsers(max(binding, min(minBinding, room*4/5)), max(share(room, userShare), min(minUser, room*4/5)))
	read, spentOnRead := p.rulesRead(min(max(share(binding, readShare), min(minRead, room/5)), room-said))
	room -= said + spentOnRead
	room -= p.changes(share(room, changeShare), share(room, changedShare))
	room -= p.errors(max(share(room, errorShare), min(minError, room/5)))
	room -= p.conclusions(share(room, conclusionShare))
	calls := max(share(room, callShare), min(minLine, room/5))
	earlier := share(room-calls, earlierShare)
	p.index.tell(p.text.String())
	lines := excerptShare
	if p.size < smallPart {
		lines = smallExcerptShare
	}
	excerpts, spentOnExcerpts := p.excerpts(share(room-earlier, lines))
	room -= spentOnExcerpts + p.calls(calls)
	p.writeCalls()
	room -= p.earlier(earlier)
	p.text.WriteString(read)
	if read != "" && excerpts != "" {
		p.text.WriteString(excerptLabel)
	}
	p.text.WriteString(excerpts)
	p.listNames(room)
	if p.text.Len() == len(head) {
		return ""
	}
	p.text.WriteString(foot)
	return p.fitting()
}

func share(room int, part float64) int { return int(float64(room) * part) }

func (p *part) cost(text string) int { return compact.CostText(p.counter, text) }

// fitting returns the text, without its last names or lines if estimates were
// too low.
func (p *part) fitting() string {
	text := p.text.String()
	for p.cost(text) > p.size {
		body := strings.TrimSuffix(text, "\n"+foot)
		ends := "\n"
		if strings.HasPrefix(body[strings.LastIndexByte(body, '\n')+1:], "names:") {
			ends = " \n"
		}
		at := strings.LastIndexAny(body[:max(0, len(body)-len(body)/40)], ends)
		if at <= 0 {
			return ""
		}
		text = body[:at] + "\n" + foot
	}
	return text
}
