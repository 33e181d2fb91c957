// Package handover recognizes requests by which an agent has its own history
// summarized, and compacts them. From then on the agent goes on with that summary
// alone, so what is left out here is lost for good.
//
// It promises:
//
//   - told by its prompt: a request is one of these if it says so itself, or if the
//     model may call nothing and the prompt, or the instructions, begin with words of
//     the table, which names the source of each. Where the words themselves forbid the
//     tools that are offered, they begin the last part of the request. Nothing else is
//     looked at.
//   - nothing is moved: if the history is in messages of its own, it is sent with
//     the edits that the request before had, so a prompt cache that served that
//     request serves this one. The prompt follows as it came.
//   - text over records: if that does not fit, results are shortened to their head
//     and tail, oldest first and no more than needed, and only after that the stages
//     of the policy follow. No record stands for what left.
//   - left alone: a request that has the history inside of one message is repaired
//     at most. If it is too long it is reported as over, and what the upstream says of
//     it makes the agent recover by itself.
package handover

import (
	_ "embed"
	"slices"
	"strings"

	"laconic/compact"
	"laconic/compact/stage"
)

// Agent names the agent that asks for a summary of its history; "": none does.
type Agent string

// Of returns the agent whose request for a summary a conversation is. noCalls says
// that the model may call nothing, asks that the request itself says what it is.
func Of(msgs []compact.Message, noCalls, asks bool) Agent {
	if agent := inWords(msgs, noCalls || asks); agent != "" || !asks || len(msgs) == 0 {
		return agent
	}
	return "an agent"
}

// asking returns the index of the prompt: the last message that instructs nothing.
// Claude Code appends the tokens that are left as a system message.
func asking(msgs []compact.Message) int {
	at := len(msgs) - 1
	for at > 0 && msgs[at].Role.Instruction() {
		at--
	}
	return at
}

// inWords returns the agent whose words the prompt begins with.
func inWords(msgs []compact.Message, noCalls bool) Agent {
	at := asking(msgs)
	if at < 0 || msgs[at].Role != compact.User {
		return ""
	}
	var instructions []compact.Part // at the head
	for i := 0; msgs[i].Role.Instruction(); i++ {
		instructions = append(instructions, msgs[i].Parts...)
	}
	for i := range prompts {
		p, in := &prompts[i], msgs[at].Parts
		switch {
		case p.in == "appended":
			in = in[max(0, len(in)-1):]
		case !noCalls:
			continue
		case p.in == "instructions":
			in = instructions
		}
		if slices.ContainsFunc(in, p.begins) {
			return p.agent
		}
	}
	return ""
}

// prompt is how an agent asks for a summary: a row of prompts.txt.
type prompt struct {
	agent             Agent
	in, words, source string
}

// prompts are the rows of prompts.txt.
var prompts = func() (all []prompt) {
	for line := range strings.Lines(promptTable) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		all = append(all, prompt{Agent(f[0]), f[1], f[2], f[3]})
	}
	return all
}()

//go:embed prompts.txt
var promptTable string

// within is how far from the start of a text its first word may be, in bytes as it
// is held.
const within = 256

// begins reports whether a part of a message begins with the words of the prompt,
// blanks aside. They are searched for in the text as it is held, because most
// texts are something else and long.
func (p *prompt) begins(part compact.Part) bool {
	held, _ := part.Text.Source()
	return part.Kind == compact.KindText && strings.Contains(held[:min(len(held), within)], p.words) &&
		strings.HasPrefix(strings.TrimSpace(part.Text.String()), p.words)
}

// Kind names the kind of request, for the log; "" if it is of no agent.
func (a Agent) Kind() string {
	if a == "" {
		return ""
	}
	return "compaction of " + string(a)
}

// Compact is [compact.Compact] for a request of the agent. For none it is the same.
func (a Agent) Compact(in compact.Conversation, p *compact.Policy, c compact.Counter, b compact.Budget) (compact.Plan, compact.Report) {
	switch {
	case a == "" || len(p.Ladder) == 0:
		return compact.Compact(in, p, c, b)
	case !slices.ContainsFunc(in.Messages, func(m compact.Message) bool { return m.Role == compact.Assistant }):
		bare := *p
		bare.Ladder = nil // it is repaired, and nothing else
		return compact.Compact(in, &bare, c, b)
	}
	history := in
	history.History = asking(in.Messages)
	plan, report := compact.Compact(history, p, c, b)
	if report.Outcome == compact.Over {
		if shortened, shorter := compact.Compact(in, Shortening(p), c, b); shorter.After < report.After {
			return shortened, shorter
		}
	}
	return plan, report
}

// Shortening returns the policy for a request whose folded history does not fit
// together with its prompt. It looks at this request alone, because the history
// ends with it: it shortens results first, then does what p does except to write
// records, and stops as soon as the request fits.
func Shortening(p *compact.Policy) *compact.Policy {
	with := *p
	with.PerRequest, with.Trigger, with.Land = &compact.PerRequest{}, 1, 1
	with.Summaries, with.Placement = false, compact.PlaceNone
	with.Ladder = nil
	for _, options := range shorter {
		turn, _ := stage.New("trim_results", []byte(options)) // they are its own
		with.Ladder = append(with.Ladder, turn)
	}
	for _, s := range p.Ladder {
		if s.Name() != "summarize" { // which puts a record in the place of what left
			with.Ladder = append(with.Ladder, s)
		}
	}
	return &with
}

// shorter leaves 5000 characters of each old result, then 2000, then 700: a summary
// needs what was done and how it ended, not all that was printed.
var shorter = []string{`{"max_chars":5000}`, `{"max_chars":2000}`, `{"max_chars":700}`}
