package compact

// Parts is what a request consists of as it is sent, beside its fixed cost, in tokens.
// What is in none of them is older, or recent, and may leave or be shortened.
type Parts struct {
	Instructions int
	Task         int // the user messages that tell the task
	Tasks        int // their number
	User         int // the newest user message, unless it tells the task
	Exchange     int // the newest answer and its results
	Record       int // the slot, as it is charged
}

// partsOf returns the parts of the messages that were not removed.
func partsOf(msgs []Message, costs []int, removed func(int) bool) (p Parts) {
	first, last := Task(msgs)
	user, answer := -1, len(msgs)
	for i := range msgs {
		switch {
		case msgs[i].Role == User && i > last:
			user = i
		case msgs[i].Role == Assistant:
			answer = i
		}
	}
	for i, cost := range costs {
		switch {
		case removed(i):
		case msgs[i].Role.Instruction():
			p.Instructions += cost
		case msgs[i].Role == User && first <= i && i <= last:
			p.Task += cost
			p.Tasks++
		case i == user:
			p.User = cost
		case i >= answer:
			p.Exchange += cost
		}
	}
	return p
}

// Ref names one part of one message of a draft.
type Ref struct{ Message, Part int }

// CallRef names one call of one message of a draft.
type CallRef struct{ Message, Call int }
