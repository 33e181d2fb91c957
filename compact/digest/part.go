package digest

import (
	"slices"
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

// The sections' shares of a digest's room, each of what the sections before left;
// bare names get the rest. On real agent runs, more calls and more words of users
// cost more than they helped.
const (
	ruleShare       = 0.40
	readShare       = 0.25 // of the rules' room, for rules in results
	userShare       = 0.10
	changeShare     = 0.10
	errorShare      = 0.08
	conclusionShare = 0.08
	callShare       = 0.05
	earlierShare    = 0.05
)

// minPart is the room of errors and calls in a small digest, in tokens: about a
// line.
const minPart = 24

const foot = "[End of the record]"

// room returns the room of a part between its head and its foot.
func (p *part) room(head string) int { return p.size - p.cost(head) - p.cost(foot) - 4 }

// write writes the part and returns its text, or "" if it would say nothing.
func (p *part) write(head string) string {
	room := p.room(head)
	p.text.WriteString(head)
	rules := share(room, ruleShare)
	spentOnRules := p.rules(rules)
	read, spentOnRead := p.rulesRead(min(share(rules, readShare), rules-spentOnRules))
	room -= spentOnRules + spentOnRead
	room -= p.writeUsers(share(room, userShare))
	room -= p.changes(share(room, changeShare))
	room -= p.errors(max(share(room, errorShare), min(minPart, room/5)))
	room -= p.conclusions(share(room, conclusionShare))
	room -= p.pickCalls(max(share(room, callShare), min(minPart, room/5)))
	forEarlier := share(room, earlierShare)
	excerpts, spentOnExcerpts := p.excerpts(share(room-forEarlier, excerptShare))
	p.writeCalls()
	room -= spentOnExcerpts + p.earlier(forEarlier)
	p.text.WriteString(read)
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

// users writes the newest user messages that fit, in their order. It returns
// the tokens spent.
func (p *part) writeUsers(room int) int {
	s := p.section(room)
	for _, said := range slices.Backward(p.users) {
		text, fits := said.text, false
		if len(text) <= lineChars && p.recorded[strings.TrimSpace(text)] {
			continue
		}
		for chars := 4 * s.left; !fits && chars > 8; chars = chars * 5 / 6 {
			fits = s.add("user: " + quote(text, chars) + "\n")
		}
		if !fits {
			break
		}
	}
	return s.write()
}
