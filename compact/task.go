package compact

// Task returns the indices of the first and the last of the user messages that tell
// the task, or -1: the first user message, and those after it up to an answer. Agents
// put rules and an environment before what the user asks. A sealed message is what
// package history made of a record, and nobody's task.
func Task(msgs []Message) (first, last int) {
	first, last = -1, -1
	for i := range msgs {
		switch m := &msgs[i]; {
		case first < 0 && m.Role == User:
			first, last = i, i
		case first < 0 || m.Role.Instruction():
		case m.Role == User && m.Seal == 0:
			last = i
		default:
			return first, last
		}
	}
	return first, last
}

// taskShare is the share of the budget that the task takes at most, unless its last
// message alone takes more: one part of so many.
const taskShare = 3

// task is where a list tells the task, in indices, or -1. Messages of the run
// before from may leave.
type task struct{ first, from, last int }

// tells reports whether message i is one of the task's that stay.
func (v *view) tells(i int) bool {
	return i >= v.task.from && i <= v.task.last && v.msgs[i].Role == User
}

// settleTask decides, at the first request point with a user message, which messages
// of the task stay: the last one, and of those before it the newest that cost no more
// than most together with it. If something else opens the list, none may leave without
// giving an answer a new neighbour; then the task is the first message alone.
func (v *view) settleTask(most int) {
	if v.task.last >= 0 || v.newestUser < 0 {
		return
	}
	t := &v.task
	t.first, t.last = Task(v.msgs[:v.end])
	t.from = t.last
	cost := v.whole[t.last]
	for i := t.last - 1; i >= t.first; i-- {
		if v.msgs[i].Role != User {
			continue
		}
		if cost += v.whole[i]; cost > most {
			break
		}
		t.from = i
	}
	if t.from > t.first && v.exchanges.before[t.first] >= 0 {
		t.from, t.last = t.first, t.first
	}
	for i := t.from; i <= t.last; i++ {
		if v.tells(i) && !v.pinned[i] {
			v.stays(i)
		}
	}
}

// hasTask reports whether the task is in what is left of the list.
func (d *Draft) hasTask() bool { return d.task.last >= 0 && !d.removed(d.task.last) }
