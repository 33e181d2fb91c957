package compact

// The texts of a turn that nobody took. They are fixed, so that a rewritten list
// has the same bytes in every request.
const (
	noAnswer  = "(no answer)"
	noMessage = "(no message)"
)

// takeTurns puts a turn between two of the same role, and before an answer that
// begins the list. Calls and their results are no turns. Nothing comes before an answer
// with bound thinking, which was written after what is before it.
func takeTurns(msgs []Message, note func(Edit)) []Message {
	var out []Message // nil: nothing was put in yet; else it has those before from
	from, last, bound := 0, Assistant, boundAnswers(msgs)
	for i := range msgs {
		m := &msgs[i]
		if role := m.turn(); role == last && !bound[i] {
			note(Edit{Op: OpInsert, Why: "two turns of one role", Origin: m.Origin})
			out, from = append(append(out, msgs[from:i]...), turnAfter(role)), i
		} else if role != 0 {
			last = role
		}
	}
	if out == nil {
		return msgs
	}
	return append(out, msgs[from:]...)
}

// boundAnswers returns, for each message, whether it belongs to an answer that has
// bound thinking from there on. Assistant messages in a row are one answer.
func boundAnswers(msgs []Message) []bool {
	bound := make([]bool, len(msgs)+1)
	for i := len(msgs) - 1; i >= 0; i-- {
		bound[i] = msgs[i].Role == Assistant && (msgs[i].Bound() || bound[i+1])
	}
	return bound
}

// turn returns whose turn a message is; 0: nobody's.
func (m *Message) turn() Role {
	if m.Role == User || m.Role == Assistant && len(m.Calls) == 0 {
		return m.Role
	}
	return 0
}

// turnAfter returns a turn that nobody took, behind one of a role.
func turnAfter(r Role) Message {
	turn, text := User, noMessage
	if r == User {
		turn, text = Assistant, noAnswer
	}
	return Message{Role: turn, Shape: String, Parts: []Part{{Text: Plain(text)}}, Origin: Added, Edited: true}
}

// chargeTurn: another turn may come before one, and before an instruction that
// becomes one.
func chargeTurn(c Counter, m *Message) int {
	if m.turn() == 0 && !m.Role.Instruction() {
		return 0
	}
	user, assistant := turnAfter(Assistant), turnAfter(User)
	return max(CostOfPieces(c, &user), CostOfPieces(c, &assistant))
}
