package digest

import (
	"slices"
	"strings"
)

// user adds what a user said, word for word if it is not long.
func (p *part) user(i int, e *event) {
	place := 0.4 + 0.6*float32(i+1)/float32(len(p.events))
	if e.words != "" {
		if most := min(max(p.room/5, 160), 1600); len(e.words) <= most {
			score := 30 * place
			if binds(e.words) {
				score = 60 // however long ago
			} else if len(e.words) < 24 {
				score = 8 * place
			}
			p.add(userWords, i, 0, e.words, score, -1)
		} else {
			p.longWords(i, e, place, most)
		}
	}
}

// longWords adds a long text of a user by its lines: the first and the last ones,
// and those that bind, come first.
func (p *part) longWords(i int, e *event, place float32, most int) {
	b := p.interest.bodyOf(e.words)
	first := len(p.pieces)
	for k := range b.lines {
		text := b.at(k)
		if len(strings.Trim(text, " \t0123456789:.(){}[]|-=#*+")) < 3 || k > 0 && sourceLine.MatchString(text) {
			continue
		}
		score := 2 + b.interest(p.interest, k)
		if binds(text) {
			score += 9
		}
		if k == 0 {
			score += 10
		}
		if len(text) > most { // a part is small
			text = cutAt(text, most)
		}
		p.add(userWords, i, int32(k), text, score*place, -1)
	}
	p.limit(first, max(800, p.room/4))
}

// agent adds what the assistant said: an answer to the user nearly whole, of what
// it says at work the conclusions.
func (p *part) agent(i int, e *event) {
	c, base, limit := prose, float32(0.9), max(500, p.room/14)
	if e.final {
		c, base, limit = answers, 1.6, max(700, p.room/12)
		if !slices.ContainsFunc(p.events[i+1:], func(e *event) bool { return e.final }) {
			limit = max(900, p.room*2/9) // the last one
		}
	}
	asked := false
	if i+1 < len(p.events) && p.events[i+1].by == byUser {
		words := p.events[i+1].words
		asked = len(words) < shortAnswer || isItem(words)
	}
	p.says(c, i, 0, e.words, base, limit, -1, asked)
}

// shortAnswer is the length of answers that say little without what they answer.
const shortAnswer = 48

// says adds a text of somebody who concludes something: the assistant, another
// agent, a plan. asked raises the options that the next message chooses from.
func (p *part) says(c purpose, i int, order int32, text string, base float32, limit int, need int32, asked bool) {
	least, most := 200, 340
	if c == prose {
		least, most = 30, 160
	}
	b := p.interest.sentencesOf(text, least)
	n := len(b.lines)
	fenced := false
	p.lines(c, i, order, b, most, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(t, "```"):
			fenced = !fenced
			return 0, skipped
		case t == "" || t == "---" || t == "***":
			return 0, blank
		case !fenced && isHeading(t):
			return 0, opens
		}
		s := min(b.interest(p.interest, k)*0.5, 1.3)
		if fenced {
			return s * 0.5, plainLine
		}
		words, concludes, firm := concluding(t)
		if announces(t) { // "Now fix the test": the step says that
			concludes, firm = false, false
		}
		if concludes && words > 5 {
			s++
		}
		if firm {
			s += 0.8
		}
		if strings.IndexByte(t, '`') >= 0 {
			s += 0.25
		}
		if asked && (isItem(l) || strings.HasSuffix(t, "?")) {
			s += 2
		}
		switch c {
		case answers:
			s += 0.6 * (1 - float32(k)/float32(n+1))
		case prose:
			if t[0] < 0x80 && !concludes && (words < 4 || announces(t) && !binds(t)) {
				return 0, skipped
			}
			s += 0.5 * float32(k) / float32(n+1)
		}
		return s, plainLine
	}, base, p.weights[i], need, limit)
}

// sentenceLength returns the length of the sentences that a text begins with, at
// least some words, with the blanks after them, or that of the text if none ends
// within most bytes.
func sentenceLength(text string, most int) int {
	for at := 8; at < min(len(text), most); at++ {
		if c := text[at]; c != '.' && c != '!' && c != '?' {
			continue
		}
		if at+1 < len(text) && text[at+1] == ' ' && class[text[at-1]]&(lower|digit) != 0 || strings.IndexByte("`)*\"", text[at-1]) >= 0 && at+1 < len(text) && text[at+1] == ' ' {
			for at++; at < len(text) && text[at] == ' '; at++ {
			}
			return at
		}
	}
	return len(text)
}

// isHeading reports whether a line is the heading of a section.
func isHeading(t string) bool {
	return strings.HasPrefix(t, "#") && strings.HasPrefix(strings.TrimLeft(t, "#"), " ") ||
		strings.HasPrefix(t, "**") && (strings.HasSuffix(t, "**") || strings.HasSuffix(t, "**:") || strings.HasSuffix(t, ":**"))
}

var (
	conclusionWords = setOf("because cause root issue problem bug reason fix turns means therefore confirmed reproduce reproduces reproduced found should instead must need needs decided decide actually " +
		"works passes fails failed failing unrelated option approach insight regression verified difference culprit existing isn doesn cannot wrong correct correctly missing never only breaks broken " +
		"expected returns changed added removed renamed implemented done remaining open next blocked")
	firmWords = setOf("cause culprit should must decided confirmed because approach fix")
)

// concluding returns how many words a line has, and whether it has words of those
// that conclude something.
func concluding(t string) (n int, concludes, firm bool) {
	for from, to := range words(t) {
		if to-from < 3 {
			continue
		}
		n++
		if to-from > 11 || concludes && firm {
			continue
		}
		w := strings.ToLower(t[from:to])
		concludes = concludes || conclusionWords[w]
		firm = firm || firmWords[w]
	}
	return n, concludes, firm
}

// announcements begin sentences that say what comes next.
var announcements = []string{"let me", "let's", "let us", "now let", "now, let", "i'll", "i will", "i'm ", "next,", "next i", "first, let", "i need to see", "i need to check", "now i'll", "now i need", "now i will", "good! now", "great! now", "perfect! now", "great, now", "perfect. now"}

// announces reports whether a sentence says what the assistant does next. The
// calls say that.
func announces(t string) bool {
	t = strings.ReplaceAll(strings.ToLower(firstBytes(strings.TrimLeft(t, "*#->• "), 200)), "’", "'")
	for _, w := range []string{"good", "great", "perfect", "excellent", "okay", "ok", "alright", "now", "yes"} {
		if rest, ok := strings.CutPrefix(t, w); ok && rest != "" && strings.IndexByte("!,. ", rest[0]) >= 0 {
			t = strings.TrimLeft(rest, "!,. ")
		}
	}
	if strings.HasSuffix(t, ":") {
		return true
	}
	for _, a := range announcements {
		if strings.HasPrefix(t, a) {
			return true
		}
	}
	return false
}
