package compact

import "slices"

// The frame of a system message within a message of another role.
const (
	systemHead = "[System message:]\n"
	systemFoot = "\n[End of the system message]"
	apart      = "\n\n" // between two texts
)

// oneSystem joins the instructions at the beginning, and moves the text of later
// ones into the messages beside them.
func oneSystem(msgs []Message, note func(Edit)) []Message {
	head := 0
	for head < len(msgs) && movable(msgs[head]) {
		head++
	}
	if !slices.ContainsFunc(msgs[min(head, 1):], movable) {
		return msgs
	}
	out := make([]Message, 0, len(msgs))
	if head > 0 {
		var others []Part
		for i := range msgs[1:head] {
			m := &msgs[i+1]
			others = append(others, m.framed(true)...)
			note(Edit{Op: OpMerge, Why: "a second system message joins the first", Origin: m.Origin})
		}
		out = append(out, msgs[0])
		out[0].append(others)
	}
	return moveSystem(msgs[head:], out, note)
}

// noSystem moves the text of all instructions into the messages beside them.
func noSystem(msgs []Message, note func(Edit)) []Message {
	if !slices.ContainsFunc(msgs, movable) {
		return msgs
	}
	return moveSystem(msgs, make([]Message, 0, len(msgs)), note)
}

// movable reports whether a message is an instruction that is only text.
func movable(m Message) bool {
	return m.Role.Instruction() && m.Seal == 0 && !m.Holds && !slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind != KindText })
}

// moveSystem appends msgs to out, and the text of instructions to the message of
// a user or a tool before them. Text that follows an answer goes before that of the
// user who speaks next, or else into a user message of its own. So no text moves
// past an answer, and none into what was sent before.
func moveSystem(msgs, out []Message, note func(Edit)) []Message {
	host := -1       // in out: the message since the last answer that takes texts
	var texts []Part // since the last answer, that no message has yet
	settle := func() {
		switch {
		case texts == nil:
		case host < 0:
			out = append(out, Message{Role: User, Shape: String, Parts: texts, Origin: Added, Edited: true})
		default:
			out[host].append(texts)
		}
		texts = nil
	}
	for i := range msgs {
		m := msgs[i]
		if movable(m) {
			note(Edit{Op: OpMerge, Why: "a system message where the template takes none", Origin: m.Origin})
			texts = append(texts, m.framed(host >= 0)...)
			continue
		}
		switch {
		case m.Role == Assistant:
			settle()
			host = -1
		case m.Role == User && texts != nil && host < 0:
			own := m.Parts
			m.Parts = texts
			m.append(own)
			texts, host = nil, len(out)
		case m.Role == User || m.Role.Result():
			settle()
			host = len(out)
		}
		out = append(out, m)
	}
	settle()
	return out
}

// framed returns the texts of a message in the frame that names them, as parts that
// no client sent, to follow another text or to be followed by one. None of them is
// empty or only space, which upstreams refuse.
func (m *Message) framed(follows bool) []Part {
	head, foot := systemHead, systemFoot+apart
	if follows {
		head, foot = apart+systemHead, systemFoot
	}
	parts := append(make([]Part, 0, len(m.Parts)+2), Part{Text: Plain(head)})
	for i := range m.Parts {
		if text := m.Parts[i].Text; text.Len() > 0 {
			parts = append(parts, Part{Text: text})
		}
	}
	return append(parts, Part{Text: Plain(foot)})
}

// chargeLabel: an instruction may get a frame, and a message of its own costs no
// more than it did.
func chargeLabel(c Counter, m *Message) int {
	if !m.Role.Instruction() {
		return 0
	}
	return max(CostText(c, apart+systemHead)+CostText(c, systemFoot), CostText(c, systemHead)+CostText(c, systemFoot+apart))
}
