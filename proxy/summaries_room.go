package proxy

import "laconic/proxy/summarize/prompt"

// LeastSummaryWindow is the smallest window that a Summarizer can work with:
// in a smaller one instructions, the summary so far and the answer leave no
// room for anything to summarize.
const LeastSummaryWindow = 4096

// A summarizer's window is divided so:
//
//	prompt                                   answer
//	instructions, task | so far | a piece  | summary | slack |
//
// The summary so far is as long as an answer at most, for each piece adds to
// what the piece before gave. A fifth is left for what a count may be off.

// answerSlack is what a model may write beside a summary of the wanted size: its
// reasoning, above all, which many servers count in. Of a small window it is an
// eighth: servers refuse a request whose prompt and answer are above the window.
const answerSlack = 4096

// longest is how long an answer may be for a slot with so much room, in tokens.
func (o *Summarizer) longest(room int) int { return min(room, o.Window/6) }

// allowed is what a model may write for an answer of so many tokens.
func (o *Summarizer) allowed(answer int) int { return answer + min(answerSlack, o.Window/8) }

// room is what a piece of the transcript may cost.
func (j *job) room(answer int) int {
	o, cost := j.s.o, costOf(j.s.o.Counter)
	p := prompt.Ask(j.task, "", "", prompt.Words(answer))
	return o.Window*8/10 - cost(p.System) - cost(p.User) - answer - o.allowed(answer)
}
