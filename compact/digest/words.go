package digest

import (
	"regexp"
	"strings"

	"laconic/compact/agent"
	"laconic/compact/quote"
)

// user adds what a user said, word for word if it is not long: of a long text the
// first line and those that bind come first.
func (p *part) user(i int, e *event) {
	most, score := min(max(p.room/5, 160), 1600), 30*p.weights[i]
	if binds(e.words) { // however long ago
		score = 60
	}
	if len(e.words) <= most {
		p.add(piece{class: userWords, event: i, text: e.words, score: score, need: -1})
		return
	}
	b, first := p.interest.bodyOf(e.words, len(e.words)), len(p.pieces)
	p.lines(piece{class: userWords, event: i, need: first}, b, layout{most: most, limit: max(800, p.room/4), weight: p.weights[i]}, func(k int) (float32, lineUse) {
		l := b.at(k)
		s := 2 + b.interest(p.interest, k)
		switch {
		case len(strings.Trim(l, " \t0123456789:.(){}[]|-=#*+")) < 3 || pasted.MatchString(l):
			return 0, skipped
		case k == 0, binds(l) && !b.leadsOn(k):
			return s + 9, single
		case binds(l):
			return s + 9, leads
		case b.leadsOn(k):
			return 0, leads
		}
		return s, single
	})
	if first < len(p.pieces) {
		p.pieces[first].need = -1
	}
}

// wordless finds lines without a word, fences, and those that only begin or end an element.
var wordless = regexp.MustCompile("^(?:[^\\pL\\pN]*|```.*|</?[\\w-]+>)$")

// pasted finds the lines of a terminal in which an agent ran.
var pasted = regexp.MustCompile(`^\s*[❯⏺⎿●]`)

// says adds a text of somebody who concludes something: the assistant, another
// agent, a plan. What a reply may choose from is raised that is short or begins with an option.
func (p *part) says(q piece, text string, base float32, limit int) {
	i, least, most := q.event, 200, 600
	if q.class == prose {
		least, most = 30, 300
	}
	b := p.interest.bodyOf(text, least)
	n := float32(len(b.lines) + 1)
	reply := ""
	if e, next := p.at(i), p.at(i+1); e.class == steps && e.Kind == agent.Asks && e.result.Text != "" {
		reply = e.result.Text
	} else if (e.class != steps || e.Kind == agent.Asks) && next.class == userWords {
		reply = next.words
	}
	replied := reply != "" && (len(reply) < shortAnswer || option.MatchString(reply))
	p.lines(q, b, layout{most: most, limit: limit, base: base, weight: saidWeight * (1 + p.weights[i])}, func(k int) (float32, lineUse) {
		l := b.at(k)
		t := strings.TrimSpace(l)
		switch {
		case wordless.MatchString(t):
			return 0, blank
		case heading.MatchString(t), b.leadsOn(k) && (p.room > smallRoom || denies.MatchString(t)):
			return 0, leads
		}
		s := min(b.interest(p.interest, k)*0.5, 1.3) + 0.5*float32(min(specifics(l), 2))
		announces := announcement.MatchString(t) || strings.HasSuffix(t, ":")
		if !announces && strings.IndexByte(t, '`') >= 0 {
			s += 0.6
		}
		asks := strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？")
		if replied && (item.MatchString(l) || asks || option.MatchString(t)) || reply != "" && asks && k > len(b.lines)-4 {
			s += 2
		}
		switch q.class {
		case answers:
			s += 0.6 * (1 - float32(k)/n)
		case prose:
			if t[0] < 0x80 && strings.Count(t, " ") < 3 && !withDigits.MatchString(t) && !denies.MatchString(t) || announces && !binds(t) && !reasoned.MatchString(t) {
				return 0, skipped
			}
			s += 0.5 * float32(k) / n
		}
		return s * max(1, float32(len(t))/longSaid), plainLine
	})
}

// option finds that a reply begins with an option, and that a line is one or has some.
var option = regexp.MustCompile(`(?i)^\W{0,3}(?:(?:the|option) )?(?:[a-h1-9][).:,;]|[bcdfgh1-9](?: |$))|\([a-h1-9]\) `)

// sentenceLength returns the length of the sentence that a text begins with, with the
// blanks after it, or that of the text if none ends within most bytes.
func sentenceLength(text string, most int) int {
	for _, m := range sentence.FindAllStringIndex(quote.First(text, most), 8) {
		if rest := text[m[1]:]; m[0] >= 8 && (text[m[0]+1] != '.' || rest == "" || strings.IndexByte(digits+"abcdefghijklmnopqrstuvwxyz", rest[0]) < 0) {
			return m[1]
		}
	}
	return len(text)
}

// sentence finds what may be the end of a sentence.
var sentence = regexp.MustCompile("[a-z0-9`)*\"][.!?] +|。 *")

// diffHead begins the lines of a file in a diff.
const diffHead = "diff --git "

// heading finds the heading of a section, or of a file in a diff.
var heading = regexp.MustCompile(`^(?:#+ |` + diffHead + `|\d+[.)] \*\*.*\*\*:?$|\*\*.*\*\*:?$|\*\*.*:\*\*$)`)

// reasoned finds that a sentence says why.
var reasoned = regexp.MustCompile(`(?i)\b(?:because|weil|porque|parce que|потому что)\b| [—–] |因为|ため`)

// announcement finds the beginnings of sentences that say what the assistant does
// next: the calls say that.
var announcement = regexp.MustCompile(`(?i)^[*#\->• ]*(?:(?:good|great|perfect|excellent|okay|ok|alright|now|yes)[!,. ]+)*(?:let me|let['’]s|let us|i['’]ll|i will|i['’]m (?:\w+ )?\w+ing\b|next,|next i|first, let|i need to|now let|je (?:vais|commence|regarde|lis|vérifie)|regardons|voyons|voy a |veamos|vou |vamos |ich (?:sehe|schaue|lese|prüfe|beginne|werde) |让我|我(?:来|先|再)|接下来|посмотрю)|\A[^。]{1,60}(?:読みます|確認します|見ます|調べます|開きます|探します|実行します)。?$`)
