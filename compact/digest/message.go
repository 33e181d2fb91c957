package digest

import (
	"slices"

	"laconic/compact"
)

// message is a message that was read. Each message is read once, when it is first
// seen. The names in its texts are found when the model begins to read them, and
// when they leave: what is known of a name may be forgotten in between.
type message struct {
	origin  int
	role    compact.Role
	answers string // the id of the call that a result answers
	parts   []compact.Part
	calls   []compact.Call
	sources []*source // its texts, then the arguments of its calls
	actions []*action // what its calls do
}

// is reports whether m is the message that was read. A message that changed has
// other parts or other calls.
func (r *message) is(m *compact.Message) bool {
	return r.origin == m.Origin && r.role == m.Role && same(r.parts, m.Parts) && same(r.calls, m.Calls)
}

// same reports whether two slices are the same memory.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// show notes that the model reads the names of a message.
func (r *Record) show(m *message) {
	for _, s := range m.sources {
		r.find(s)
		s.found, s.binding = slices.Clone(s.found), nil
		for i := range s.found {
			s.found[i].visible++
		}
	}
}

// hide notes that the model does not read the names of a message any more.
func (r *message) hide() {
	for _, s := range r.sources {
		for i := range s.found {
			s.found[i].visible--
		}
		s.found = nil
	}
}

// read reads a message, but for the names in it.
func (r *Record) read(m *compact.Message) *message {
	read := &message{origin: m.Origin, role: m.Role, answers: m.Answers, parts: m.Parts, calls: m.Calls}
	for i := range m.Parts {
		if m.Parts[i].Kind != compact.KindText {
			continue
		}
		s := &source{text: m.Parts[i].Text.String(), role: m.Role, size: m.Parts[i].Text.Len()}
		if m.Role.Result() {
			s.text = withoutHead(unwrap(s.text))
		}
		r.index.read += len(s.text)
		if m.Role == compact.User {
			r.task.read(s)
		}
		read.sources = append(read.sources, s)
	}
	for i := range m.Calls {
		a, arguments := actionOf(&m.Calls[i])
		s := &source{text: unwrap(arguments), role: m.Role, size: len(arguments), call: a, argument: true}
		r.index.read += len(s.text)
		r.calls.add(m, &m.Calls[i], a)
		read.sources = append(read.sources, s)
		read.actions = append(read.actions, a)
	}
	return read
}

// find finds the names in a text, and the words in it that bind. They are there
// until the next call.
func (r *Record) find(s *source) {
	s.found, s.binding = r.sightings[:0], r.words[:0]
	for t := (tokens{text: s.text}); t.next(); {
		if t.isName() {
			if name := r.index.of(s.text[t.from:t.to]); name != nil {
				s.found = append(s.found, sighting{name, int32(t.from), int32(t.to)})
			}
		}
		if !s.argument && t.seen&^(lower|upper) == 0 && isBinding(s.text[t.from:t.to], s.text[t.to:]) {
			s.binding = append(s.binding, int32(t.from))
		}
	}
	r.sightings, r.words = s.found, s.binding
}

// see reads what left and what is new among the messages that the model still
// reads. Names are visible in those alone.
func (r *Record) see(lost, kept []compact.Message) {
	gone, unread := r.compare(kept)
	left := make([]*message, len(lost))
	for i := range lost {
		if m := gone[lost[i].Origin]; m != nil && m.is(&lost[i]) {
			left[i] = m
		} else {
			left[i] = r.read(&lost[i])
		}
	}
	for _, m := range gone {
		m.hide()
	}
	for _, u := range unread {
		m := r.read(u.Message)
		r.show(m)
		r.kept[u.at] = m
	}
	r.all.messages += len(left)
	for i, m := range left {
		r.lose(m, r.all.messages-len(left)+i)
	}
}

// unread is a kept message that is to be read.
type unread struct {
	*compact.Message
	at int // its place in Record.kept
}

// compare compares the messages that the model reads with those that it read
// before. It returns those that are gone or changed, by their origins, and those
// that are new or changed. Messages that the client did not send say nothing of
// their own.
func (r *Record) compare(kept []compact.Message) (gone map[int]*message, fresh []unread) {
	n := 0 // how many are the same as before
	for n < len(kept) && n < len(r.kept) && r.kept[n].is(&kept[n]) {
		n++
	}
	gone = make(map[int]*message, len(r.kept)-n)
	for _, m := range r.kept[n:] {
		if twin := gone[m.origin]; twin != nil {
			twin.hide()
		}
		gone[m.origin] = m
	}
	r.kept = r.kept[:n]
	for i := n; i < len(kept); i++ {
		m := &kept[i]
		if m.Origin < 0 {
			continue
		}
		was := gone[m.Origin]
		if was != nil && was.is(m) {
			delete(gone, m.Origin)
		} else {
			fresh = append(fresh, unread{m, len(r.kept)})
			was = nil
		}
		r.kept = append(r.kept, was)
	}
	return gone, fresh
}
