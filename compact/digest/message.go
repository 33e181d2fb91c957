package digest

import (
	"slices"
	"strconv"
	"strings"

	"laconic/compact"
	"laconic/compact/agent"
)

// message is a message that was read. Each is read once, when it is first seen.
type message struct {
	compact.Message
	text   string        // of its parts
	events []*event      // of its calls
	whole  string        // the text with the call that is written in it
	ended  bool          // the results of these calls are known
	call   *event        // that a result answers
	result *agent.Result // of it
	answer string        // of the assistant to the user, in a result
	said   string        // the user's own words, in a result those to the call
	data   string        // what is attached to them
}

// keyOf returns what tells a message from others: those that were split share an origin.
func keyOf(m *compact.Message) string {
	switch {
	case m.Role == compact.User:
		return strconv.Itoa(m.Origin) + " " + m.Answers
	case len(m.Calls) == 0:
		return strconv.Itoa(m.Origin)
	}
	return strconv.Itoa(m.Origin) + " " + m.Calls[0].ID
}

// apart returns the texts of a message of the user that has a result as messages of their own: each
// may be the result of a call, perhaps behind a text that only names the call.
func apart(m *compact.Message) (texts []compact.Message) {
	from, named := 0, false
	for i, p := range m.Parts {
		tool, _, all := agent.Names(p.Text.String())
		if named = named || tool != ""; all && i+1 < len(m.Parts) {
			continue
		}
		one := *m
		one.Parts, one.Answers = m.Parts[from:i+1], " "+strconv.Itoa(from)
		texts = append(texts, one)
		from = i + 1
	}
	if !named {
		return []compact.Message{*m}
	}
	return texts
}

// read reads a message. was is what it was before it changed, or nil.
func (r *Record) read(m *compact.Message, was *message) *message {
	read := &message{Message: *m, text: textOf(m)}
	for i := range m.Calls {
		e := &event{class: steps, origin: m.Origin, Action: agent.ActionOf(m.Calls[i].Name, m.Calls[i].Arguments.String())}
		if e.waits = e.WaitsFor(r.session); e.waits {
			e.Action = r.running
		}
		if was != nil && i < len(was.Calls) && was.Calls[i].ID == m.Calls[i].ID {
			e = was.events[i]
		} else {
			r.calls[m.Calls[i].ID] = e
			if dir := e.Folder(); !r.ran && agent.IsAbsolute(dir) {
				r.folder = dir
			}
			r.ran = r.ran || e.Command != ""
			if !e.waits {
				e.RunsFrom(r.folder)
			}
		}
		read.events = append(read.events, e)
	}
	r.native = r.native || len(m.Calls) > 0 || m.Role.Result()
	if m.Role == compact.Assistant && was == nil {
		r.missing = nil
		r.reply = strings.TrimSpace(read.text)
	}
	r.aider = r.aider || (m.Role == compact.User || m.Role.Instruction()) && agent.IsAiders(read.text)
	settles := r.aider && m.Role == compact.User && r.settles(read.text, m.Origin)
	if was != nil && was.call != nil {
		read.call = was.call
	} else if !settles {
		read.call = r.callOf(read)
	}
	switch {
	case settles:
	case read.call != nil:
		read.returned()
		if session := read.result.Session; session != "" {
			r.session, r.running = session, read.call.Action
		}
	case m.Role == compact.User && r.aider && !r.native && strings.TrimSpace(read.text) == agent.ExamplesEnd:
		r.examples = m.Origin
	case m.Role == compact.User:
		read.said, read.data = agent.SaidIn(read.text, false)
	case m.Role.Instruction():
		if text := strings.TrimSpace(agent.WithoutElements(read.text, false)); text != r.reminder {
			read.data, r.reminder = text, text
		}
	case r.aider && r.silent && strings.TrimRight(read.text, ".\n") == "Ok": // as Aider answers itself
		read.text = ""
	case !r.native:
		var edits []*agent.Action
		rest := ""
		if r.aider {
			edits, rest = agent.EditsIn(read.text)
		}
		if edits != nil {
			read.whole, read.text, read.ended, r.edited = read.text, rest, true, read
			for _, a := range edits {
				read.events = append(read.events, &event{class: steps, origin: m.Origin, Action: a, ran: true})
			}
		} else if a, rest := agent.CallIn(read.text); a != nil {
			read.whole, read.text = read.text, rest
			end := strings.TrimSpace(read.whole) // whatever follows a tag answers it
			r.awaits = &event{class: steps, origin: m.Origin, Action: a, ran: strings.HasSuffix(end, ">") && !strings.HasSuffix(end, "</code>") && !strings.HasSuffix(end, "</function>")}
			read.events = append(read.events, r.awaits)
		}
	}
	if m.Role == compact.User {
		r.silent = read.said == ""
	}
	return read
}

// settles reports whether a message in the place of the user has no words of the user: Aider sends a
// plan of the assistant back to its editor, or says what came of the edits in its reply.
func (r *Record) settles(text string, origin int) (only bool) {
	text = strings.TrimSpace(text)
	back := text == r.reply && len(text) >= longReply
	if r.edited == nil || r.edited.Origin+1 != origin {
		return back
	}
	failed := 0
	for _, e := range r.edited.events {
		e.ran = !back // else the editor makes it
		if e.result.Text, only = e.NotMade(text); e.result.Text != "" {
			e.result.Failed = true
			failed++
		}
	}
	if why := agent.BlocksFailed(text); failed == 0 && why != "" { // nobody knows which
		for _, e := range r.edited.events {
			e.result.Text, e.result.Failed = why, true
		}
	}
	return back || only
}

// textOf returns the text of a message. A shell may return objects instead.
func textOf(m *compact.Message) string {
	var texts, objects []string
	for i := range m.Parts {
		switch text := m.Parts[i].Text.String(); {
		case m.Parts[i].Kind == compact.KindText && text != "":
			texts = append(texts, text)
		case m.Parts[i].Kind == compact.KindOther && m.Role.Result():
			objects = append(objects, text)
		}
	}
	if texts == nil && objects != nil {
		return "[" + strings.Join(objects, ",") + "]"
	}
	return strings.Join(texts, "\n")
}

// callOf returns the call whose result a message is: one with its id, or one in the text of
// the message before. It returns nil if the message is no result.
func (r *Record) callOf(m *message) *event {
	of := r.calls[m.Answers]
	switch next := r.awaits != nil && r.awaits.origin+1 == m.Origin; {
	case of != nil && m.Role.Result() && m.text == agent.ResultMissing && len(r.missing) < mostMissing:
		of.missing, r.missing = true, append(r.missing, of)
		return nil
	case m.Role.Result():
		if of != nil {
			of.missing = false
		}
	case m.Role == compact.User && m.Answers != "":
		tool, given, _ := agent.Names(m.text)
		if tool == "" {
			return nil
		}
		i := slices.IndexFunc(r.missing, func(e *event) bool { return e.IsFor(tool, given, true) })
		if i < 0 {
			i = slices.IndexFunc(r.missing, func(e *event) bool { return e.IsFor(tool, given, false) })
		}
		if i >= 0 {
			of = r.missing[i]
			of.missing, r.missing = false, slices.Delete(r.missing, i, i+1)
		}
	case r.native || m.Role != compact.User || !agent.IsResult(m.text) && !(next && r.awaits.ran):
		return nil
	case next:
		of = r.awaits
		of.ran = true
	}
	if of == nil || of.origin > m.Origin {
		of = &event{class: steps, origin: m.Origin, Action: &agent.Action{}}
	}
	return of
}

// returned reads the result of a call.
func (m *message) returned() {
	var text string
	text, m.data = agent.Discovered(m.text)
	if strings.Contains(m.call.Command, "final_answer(") {
		text, m.answer, m.said = agent.FinalAnswer(text)
	}
	if e := m.call; e.Kind == agent.Asks || e.Kind == agent.Plans || e.Tool == "attempt_completion" { // the user answers
		m.said, text = agent.SaidIn(text, true)
	}
	if m.call.Kind == agent.Edits { // whose results are the client's words
		text, m.said = agent.Approved(text)
	}
	m.result = agent.ResultOf(text, m.call.Kind)
	m.result.Failed = m.result.Failed || m.Failed
	m.Name = "" // of the tool
}
