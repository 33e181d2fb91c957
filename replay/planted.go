package replay

import (
	"hash/fnv"
	"slices"
	"strings"

	"laconic/compact"
)

// sentences bind an agent. They are planted into copies of recorded
// conversations: the first half have the words by which a rule is
// usually recognised, the second half have none of them. They were written
// before anybody knew by which rule a record chooses sentences, and must not be
// changed to suit one.
var sentences = [...]string{
	"Never push to the branch release/harbor; open a draft for it and wait.",
	"The field invoice_ref must stay a string, because the ledger rejects numbers.",
	"Always answer the customer in the language of the first letter.",
	"Only the night shift may restart the queue at Larkspur.",
	"A second signature is required for anything above 740 crowns.",
	"Leave the folder vendor/quartz alone unless Odile agrees in writing.",
	"Do not rename what the package lantern exports.",
	"Don't call the tariff service more than twice for one order.",
	"Ask for the file number before you change an address.",
	"Dates must be written as year, month and day, with dashes between.",

	"Keep the port at 48219, two other teams have it in their firewall.",
	"Generated files under proto/gen are off limits.",
	"Please stick to tabs in the Makefiles of this project.",
	"The customer has until the ninth of the month; later refunds are refused.",
	"We stay on version 2.7 of the parser until the audit is over.",
	"Prices are shown with tax, in whole cents.",
	"I want every commit message in the imperative, at most sixty characters.",
	"Tests run without a network here, so stub the geocoder.",
	"Nothing from the folder payroll goes into a log or an answer.",
	"Refer to her as Dr. Vasquez-Lindqvist in every letter.",
}

// A place is where a sentence is planted.
type place int

const (
	inUser place = iota
	inResult
	places
)

// A Survival counts requests in which a planted sentence had to be, and those in
// which it was, as a whole.
type Survival struct {
	Planted int `json:"planted"`
	Kept    int `json:"kept"`
}

func (s *Survival) add(o Survival) {
	s.Planted += o.Planted
	s.Kept += o.Kept
}

// Constraints count which binding sentences survive. They are planted into copies
// of a conversation, so that all other numbers are those of the recording: into a
// user message other than the first, and into a tool result of the first third.
// What a user says binds with the usual words of a rule, such as never and must,
// and without them; a result has a sentence with them. A sentence counts in
// requests above the budget that leave room to work in (what must stay takes less
// than four fifths), as soon as its message may leave: a newer user message came,
// or a newer answer. Of a conversation the middle one and the last of these
// requests are looked at, in each of four copies.
type Constraints struct {
	User    Survival `json:"user"`
	Results Survival `json:"results"`
}

func (c *Constraints) add(o *Constraints) {
	c.User.add(o.User)
	c.Results.add(o.Results)
}

// of returns the counter of a place.
func (c *Constraints) of(p place) *Survival {
	if p == inUser {
		return &c.User
	}
	return &c.Results
}

// mostLooks is the number of requests of a copy that are looked at.
const mostLooks = 2

// plantedCopy is a copy of a conversation with a sentence at each place that it
// has.
type plantedCopy struct {
	*conversation
	plants []plant
}

// plant is one planted sentence.
type plant struct {
	place    place
	message  int
	sentence string
}

// planted returns the copies of a conversation. Which messages and sentences are
// chosen depends on nothing but its id and its messages.
func (v *conversation) planted() []plantedCopy {
	h := fnv.New32a()
	h.Write([]byte(v.ID))
	half := len(sentences) / 2
	var copies []plantedCopy
	for n := range 4 {
		seed := int(h.Sum32()>>1) + n/2
		chosen := v.places(seed)
		first := n % 2 * half
		copied := *v.Conversation
		copied.Messages = slices.Clone(v.Messages)
		c := plantedCopy{conversation: &conversation{
			Conversation: &copied, counter: v.counter, fixed: v.fixed, costs: slices.Clone(v.costs),
		}}
		for at, i := range chosen {
			if i < 0 || place(at) == inResult && first > 0 {
				continue
			}
			s := sentences[first+(seed+at*half/len(chosen))%half]
			if m := &copied.Messages[i]; withSentence(m, s) {
				c.costs[i] = compact.Cost(v.counter, m)
				c.plants = append(c.plants, plant{place(at), i, s})
			}
		}
		copies = append(copies, c)
	}
	return copies
}

// places returns the index of the message to plant into at each place, or -1.
func (v *conversation) places(seed int) [places]int {
	var users, results []int
	chosen := [places]int{-1, -1}
	for i := range v.Messages {
		switch role := v.Messages[i].Role; {
		case role == compact.User:
			users = append(users, i)
		case role.Result():
			results = append(results, i)
		}
	}
	if n := len(users); n > 2 {
		chosen[inUser] = users[1+seed%((n-1)/2)]
	}
	if n := len(results); n > 1 {
		chosen[inResult] = results[seed%((n+2)/3)]
	}
	return chosen
}

// withSentence puts a sentence into the first text of a message, as a line of its
// own: behind the line in the middle, or at the end of a text that is JSON. It
// reports whether there is a text.
func withSentence(m *compact.Message, sentence string) bool {
	i := slices.IndexFunc(m.Parts, func(p compact.Part) bool { return p.Kind == compact.KindText })
	if i < 0 {
		return false
	}
	text := m.Parts[i].Text.String()
	at := len(text)
	if first := strings.TrimSpace(text); first != "" && first[0] != '{' && first[0] != '[' {
		if n := strings.IndexByte(text[at/2:], '\n'); n >= 0 {
			at = at/2 + n
		}
	}
	m.Parts = slices.Clone(m.Parts)
	m.Parts[i].Text = compact.Plain(text[:at] + "\n" + sentence + text[at:])
	return true
}

// survive counts what a policy keeps of the planted sentences. ks are the lengths
// of the requests.
func (c *plantedCopy) survive(p *Policy, b compact.Budget, ks []int, found *Constraints) {
	var due []int
	total, at := c.fixed, 0
	for _, k := range ks {
		for ; at < k; at++ {
			total += c.costs[at]
		}
		if total > b.Tokens && fair(c.unavoidable(k), b) && slices.ContainsFunc(c.plants, func(p plant) bool { return c.mayLeave(p.message, k) }) {
			due = append(due, k)
		}
	}
	looks := min(len(due), mostLooks)
	for n := range looks {
		k := due[(n+1)*len(due)/looks-1]
		in := compact.Conversation{Messages: c.Messages[:k:k], Fixed: c.fixed}
		plan, _ := compact.Compact(in, p.Policy, c.counter, b)
		sent := plan.Apply(in, "")
		for _, p := range c.plants {
			if !c.mayLeave(p.message, k) {
				continue
			}
			s := found.of(p.place)
			s.Planted++
			if quotes(sent, p.sentence) {
				s.Kept++
			}
		}
	}
}

// unavoidable returns the cost of what no policy may remove from the first k
// messages: the fixed part, the instructions, the first and the newest user
// message.
func (v *conversation) unavoidable(k int) int {
	n, first, newest := v.fixed, -1, -1
	for i := range v.Messages[:k] {
		switch role := v.Messages[i].Role; {
		case role.Instruction():
			n += v.costs[i]
		case role == compact.User:
			if first < 0 {
				first = i
			}
			newest = i
		}
	}
	if first >= 0 {
		n += v.costs[first]
	}
	if newest > first {
		n += v.costs[newest]
	}
	return n
}

// fair reports whether a request leaves room to work in: what must stay of it
// takes less than four fifths of the budget.
func fair(must int, b compact.Budget) bool { return must*5 < b.Tokens*4 }

// mayLeave reports whether message i of a request of k messages is followed by
// one that makes it old: a newer user message, or for a result a newer answer.
func (c *plantedCopy) mayLeave(i, k int) bool {
	if i >= k {
		return false
	}
	newer := compact.Assistant
	if c.Messages[i].Role == compact.User {
		newer = compact.User
	}
	return slices.ContainsFunc(c.Messages[i+1:k], func(m compact.Message) bool { return m.Role == newer })
}

// quotes reports whether a request has a sentence, however its words are spaced.
func quotes(sent []compact.Message, sentence string) bool {
	sentence = strings.TrimSuffix(sentence, ".")
	for i := range sent {
		for t := range texts(&sent[i]) {
			if strings.Contains(t, sentence) || sent[i].Edited && strings.Contains(strings.Join(strings.Fields(t), " "), sentence) {
				return true
			}
		}
	}
	return false
}
