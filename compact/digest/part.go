package digest

import (
	"maps"
	"slices"
	"strings"

	"laconic/compact"
	"laconic/compact/agent"
	"laconic/compact/quote"
)

// part is a part of a record that is being written.
type part struct {
	*Record
	events []*event // that it is chosen from, those that are told already first
	size   int      // tokens
	root   string   // the folder from which paths are told; "": as they were given

	interest *interest
	tasks    map[string]*event // the newest list of what is to do, by its tool, unless a newer one stays
	seen     lineSet           // that the model reads
	stays    map[*event]bool   // the edits whose calls it reads
	wrote    map[*event]int    // the heads of the files that edits wrote whole, one each
	bodies   []*body           // of the results of the events
	weights  []float32         // of the events
	room     int               // bytes
	pieces   []piece
}

// write returns the text of the part, or "" if it would say nothing.
func (p *part) write() string {
	p.room = p.size * 7 / 2
	p.events = slices.Concat(p.carried, p.between(p.events))
	p.tasks = map[string]*event{}
	for i, e := range p.events { // what came later counts more
		if e.class == steps && e.Kind == agent.Tracks {
			p.tasks[e.Tool] = e
		}
		p.weights = append(p.weights, 0.5+0.8*float32(i+1)/float32(len(p.events)))
	}
	p.root = p.rootOf()
	p.see()
	newest, said := map[string]*event{}, map[string]int{} // of what users say: a program may say it each time
	for _, e := range p.events {
		if e.class == userWords && !e.told && !e.below {
			newest[e.who+"\n"+e.words] = e
			said[e.who+"\n"+e.words]++
		}
	}
	times := 1
	for i, e := range p.events {
		if e.times = times; p.left() {
			return ""
		}
		switch {
		case e.told:
			if !p.files.after(e.Path, e) {
				p.step(i, e)
			}
		case e.class == steps && e.Kind == agent.Edits && e.outcome.Verdict == agent.Passed && p.stays[e]:
		case e.below:
			p.add(piece{class: steps, event: i, text: "user, kept: " + e.words, score: foremost, need: -1})
		case e.sameAs(p.at(i + 1)):
			times++
			continue
		case e.class == userWords && len(e.words) >= longPrompt && said[e.who+"\n"+e.words] > 2 && newest[e.who+"\n"+e.words] != e:
		case e.class == userWords:
			p.user(i, e)
		case e.class == answers: // nearly whole
			p.says(piece{class: answers, event: i, need: -1}, e.words, 2, max(700, p.room/8))
		case e.class == prose: // the conclusions
			p.says(piece{class: prose, event: i, need: -1}, e.words, 0.9, max(500, p.room/14))
		default:
			p.step(i, e)
		}
		times = 1
	}
	p.code()
	return p.fit()
}

// between returns events with those of messages of users that the model still reads between
// them: the steps behind such a message came after it.
func (p *part) between(events []*event) []*event {
	all := slices.Clone(events)
	for _, m := range p.kept {
		if m.Role == compact.User && m.said != "" && len(events) > 0 && events[0].origin < m.Origin && m.Origin < events[len(events)-1].origin {
			all = append(all, &event{class: userWords, below: true, Action: &agent.Action{Kind: agent.Reads}, origin: m.Origin, words: quote.OneLine(quote.First(m.said, 1000), belowChars)})
		}
	}
	slices.SortStableFunc(all, func(a, b *event) int { return a.origin - b.origin })
	return all
}

// rootOf returns the folder that saves most in the paths of the files that a part names.
func (p *part) rootOf() (root string) {
	paths, saves := slices.Sorted(maps.Keys(p.files)), map[string]int{}
	for _, e := range p.events {
		if e.class == steps && e.Tool != "" && e.Command == "" && e.Path != "" { // what is attached has none
			paths = append(paths, e.Path)
		}
	}
	for _, path := range paths {
		if !agent.IsAbsolute(path) {
			continue
		}
		for i := range min(len(path), mostPath) {
			if folder := path[:i+1]; path[i] == '/' {
				if saves[folder] += i; saves[folder] > saves[root] {
					root = folder
				}
			}
		}
	}
	if saves[root] < leastRoot {
		return ""
	}
	return root
}

// sameAs reports whether two events are calls that are told alike, with the same result.
func (e *event) sameAs(f *event) bool {
	return e.class == steps && f.class == steps && e.result.Text == f.result.Text &&
		e.ended() == f.ended() && e.Name(labelChars, "") == f.Name(labelChars, "")
}

// see learns what the work is about, and which lines the model reads.
func (p *part) see() {
	x := &interest{terms: map[string]int32{}, most: leastTerms, long: min(longLine, max(agent.LeastLine, p.room/4))}
	p.interest = x
	p.seen, p.stays, p.wrote = lineSet{}, map[*event]bool{}, map[*event]int{}
	for _, m := range p.kept {
		switch {
		case m.Role.Instruction():
			continue
		case m.result != nil:
			p.seen.add(m.result.Text)
			x.feed(quote.First(m.result.Text, 3000), 0.4, false)
		case m.Role == compact.User:
			x.feed(quote.First(m.text, 6000), 1.5, true)
		default:
			x.feed(m.text, 2, false)
		}
		for _, e := range m.events {
			delete(p.tasks, e.Tool)
			if m.whole == "" {
				p.stays[e] = true
			}
			e.Values.Each(func(text string) {
				p.seen.add(text)
				x.feed(quote.First(text, 8000), 1.5, false)
			})
		}
		p.seen.add(m.text)
	}
	for i, e := range p.events {
		x.most += len(e.result.Text) / bytesPerTerm
		switch {
		case e.told, e.below:
		case e.class == userWords:
			x.feed(quote.First(e.words, 3000), 2, true)
		case e.class == steps:
			e.Values.Each(func(text string) { x.feed(quote.First(text, 4000), 0.5*p.weights[i], false) })
		default:
			x.feed(e.words, p.weights[i], false)
		}
	}
	for _, e := range p.events {
		b := x.bodyOf(e.result.Text, len(e.result.Text))
		seen, long := p.seen.count(b.text, nil)
		b.seen = seen*2 > long && seen*3 > len(b.lines)
		p.bodies = append(p.bodies, b)
	}
}

// A lineSet has the lines of texts that are long enough to be told from others, without the
// marks of a list or of a change.
type lineSet map[uint64]bool

// hashes calls f for the hashes of such lines of a text.
func hashes(text string, f func(hash uint64)) {
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimLeft(strings.TrimSpace(l), "+- "); len(l) >= longEnough {
			f(hashOf(l))
		}
	}
}

// hashOf returns a hash of a text.
func hashOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// add adds the lines of a text.
func (s lineSet) add(text string) {
	hashes(text, func(h uint64) { s[h] = true })
}

// count returns how many lines of a text are in a set or in another one, and how many there are.
func (s lineSet) count(text string, other lineSet) (in, lines int) {
	hashes(text, func(h uint64) {
		if lines++; s[h] || other[h] {
			in++
		}
	})
	return in, lines
}

// known reports whether more than half of the lines of a piece are told already or
// read by the model. Short lines are read by it if those around them are.
func (p *part) known(q *piece, told lineSet) bool {
	seen := p.seen
	if e := p.at(q.event); q.class == prints && !e.Shows && len(e.result.Text) < shortOutput {
		seen = nil
	}
	known, lines := told.count(q.text, seen)
	if lines == 0 && q.body != nil {
		return q.body.seen
	}
	return known*2 > lines
}
