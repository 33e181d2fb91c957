package report

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"laconic/replay"
)

// What of a conversation is on the page. Texts are cut at characters, and what is
// cut is counted and said.
const (
	excerptLength  = 150   // bytes of a text on the line of its message
	listedLength   = 3000  // bytes of a message that was removed, or goes out as it came
	editedHead     = 700   // bytes of an edited text that are seen at once
	editedLength   = 12000 // bytes of it
	recordHead     = 1500  // bytes of a record that are seen at once
	recordLength   = 48000 // bytes of it
	mostText       = 3 << 20
	mostMessages   = 4000 // lines of messages, and of runs of messages
	mostFull       = 150  // requests with their messages
	mostLines      = 1500 // lines of requests that go on
	fewMessages    = 4    // so many are listed without a click
	longestNoticed = 160  // bytes of a name
)

// shown is the data of the conversation's part of the page.
type shown struct {
	*replay.Shown
	Name    string // of the file
	Picture template.HTML
	Groups  []group
	Left    []string // what is not on the page

	text, messages, full, lines int // how much is left of the limits
	cutTexts, cutBytes          int
	cutMessages, cutRequests    int
	cutLines                    int
}

// group is one request with its messages, or a run of requests that go on from
// the one before it.
type group struct {
	Number int // of the first request, from 1
	Title  string
	Facts  []string
	Over   bool
	Open   bool
	// Changed is set for a request that is not a run; its facts and rows are
	// missing where the page has its fill.
	Changed bool
	Client  string
	Upward  string
	Rows    []view
	Lines   []requestLine
	More    int // requests without a line, or messages without a row
}

// requestLine is a request that goes on from the one before it.
type requestLine struct {
	Number, New          int
	Full, Tokens, Cached string
	Over                 bool
}

// view is a row: a run of messages, the client's at the left and the upstream's at
// the right.
type view struct {
	Class      string
	Which      string // the messages
	What       string // the fate in words
	Full, Sent string // tokens
	Since      int
	Messages   []message // of the client
	More       int       // messages that are not listed
	Fold       bool      // the messages are shown by a click
	Sends      *message
	Why        []why
}

type why struct{ Stage, Why, Saved string }

// message is one message on the page.
type message struct {
	Number  int // -1: the client did not send it
	Role    string
	About   string
	Tokens  string
	Excerpt string
	Pieces  []piece
}

// piece is one text of a message: what is seen at once, what a click shows, and
// how much is not on the page.
type piece struct {
	Kind, Note string
	Head, Rest string
	Known      string // the beginning of a record, which was sent before
	More, Cut  string
}

// shownOf returns the part of the page about a conversation, or nil.
func shownOf(r *replay.Result, names map[string]string) *shown {
	if r.Shown == nil {
		return nil
	}
	s := &shown{
		Shown: r.Shown, Name: names[r.Shown.File], Picture: template.HTML(sawtooth(r.Shown)),
		text: mostText, messages: mostMessages, full: mostFull, lines: mostLines,
	}
	quiet := true // no request was changed yet
	for i := 0; i < len(s.Requests); {
		if s.Requests[i].Rows != nil {
			g := s.request(i)
			g.Open = quiet
			quiet = false
			s.Groups = append(s.Groups, g)
			i++
			continue
		}
		end := i + 1
		for end < len(s.Requests) && s.Requests[end].Rows == nil {
			end++
		}
		s.Groups = append(s.Groups, s.going(i, end, quiet))
		i = end
	}
	s.say()
	return s
}

// say writes down what is not on the page.
func (s *shown) say() {
	add := func(n int, format string, args ...any) {
		if n > 0 {
			s.Left = append(s.Left, fmt.Sprintf(format, args...))
		}
	}
	add(s.cutTexts, "the rest of %s: %s", replay.Count(s.cutTexts, "long text"), replay.Count(s.cutBytes, "byte"))
	add(s.cutMessages, "%s in requests that are shown", replay.Count(s.cutMessages, "message"))
	add(s.cutRequests, "the messages of %s that changed something", replay.Count(s.cutRequests, "request"))
	add(s.cutLines, "a line for each of %s that go on", replay.Count(s.cutLines, "request"))
}

// going returns a run of requests [from, to) that go on from the one before it.
func (s *shown) going(from, to int, quiet bool) group {
	first, last := &s.Requests[from], &s.Requests[to-1]
	g := group{Number: from + 1}
	which := fmt.Sprintf("Request %d", from+1)
	verb := "goes"
	if to-from > 1 {
		which, verb = fmt.Sprintf("Requests %d to %d", from+1, to), "go"
	}
	switch {
	case quiet:
		g.Title = fmt.Sprintf("%s %s out as the client sent them: up to %s tokens", which, verb, replay.Thousands(last.Tokens))
	default:
		sent := replay.Thousands(last.Tokens)
		if to-from > 1 {
			sent = replay.Thousands(first.Tokens) + " to " + sent
		}
		g.Title = fmt.Sprintf("%s %s on from request %d, new messages at the end: %s tokens, of the %s that the client sent", which, verb, from, sent, replay.Thousands(last.Full))
	}
	before := 0
	if from > 0 {
		before = s.Requests[from-1].Messages
	}
	for i := from; i < to; i++ {
		r := &s.Requests[i]
		g.Over = g.Over || r.Tokens > s.Tokens
		if s.lines == 0 {
			g.More++
			s.cutLines++
			continue
		}
		s.lines--
		g.Lines = append(g.Lines, requestLine{
			Number: i + 1, New: r.Messages - before, Full: replay.Thousands(r.Full), Tokens: replay.Thousands(r.Tokens), Cached: percent(r.Cached, r.Tokens),
			Over: r.Tokens > s.Tokens,
		})
		before = r.Messages
	}
	return g
}

// request returns a request with its messages.
func (s *shown) request(i int) group {
	r := &s.Requests[i]
	g := group{
		Number: i + 1, Over: r.Tokens > s.Tokens,
		Client: fmt.Sprintf("%s, %s tokens", replay.Count(r.Messages, "message"), replay.Thousands(r.Full)),
		Upward: fmt.Sprintf("%s, %s tokens", replay.Count(r.Sent, "message"), replay.Thousands(r.Tokens)),
	}
	what := "changed"
	switch n := len(r.Epochs); {
	case n == 1:
		what = fmt.Sprintf("epoch %d", r.First)
	case n > 1:
		what = fmt.Sprintf("epochs %d to %d", r.First, r.First+n-1)
	case repaired(r):
		what = "repaired"
	}
	g.Title = fmt.Sprintf("Request %d, %s: %s → %s tokens", i+1, what, replay.Thousands(r.Full), replay.Thousands(r.Tokens))
	g.Changed = true
	if s.full == 0 {
		s.cutRequests++
		return g
	}
	s.full--
	g.Facts = s.facts(r)
	for k := range r.Rows {
		row := &r.Rows[k]
		if s.messages == 0 {
			g.More += max(1, row.To-row.From)
			continue
		}
		g.Rows = append(g.Rows, s.row(row))
	}
	s.cutMessages += g.More
	return g
}

// repaired reports whether a row has a reason that is no epoch's.
func repaired(r *replay.ShownRequest) bool {
	for i := range r.Rows {
		for _, e := range r.Rows[i].Edits {
			if e.Epoch == 0 {
				return true
			}
		}
	}
	return false
}

// facts returns what is to say about a request that changed something.
func (s *shown) facts(r *replay.ShownRequest) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for i, e := range r.Epochs {
		own := ""
		if r.Trigger == 0 {
			own = " as the policy counts"
		}
		add("Epoch %d began at %s tokens%s, above its trigger of %s, and ended at %s; it was to land at %s.", r.First+i,
			replay.Thousands(e.Before), own, replay.Thousands(e.Trigger), replay.Thousands(e.After), replay.Thousands(e.Land))
		if e.ByMessages {
			add("It began for the number of messages.")
		}
		if e.Budget > s.Tokens && r.Trigger > 0 {
			add("It planned for %s tokens, because what must stay leaves too little of the budget.", replay.Thousands(e.Budget))
		}
		if e.Excess > 0 {
			add("%s tokens were still too many when the last resort began: recent messages were cut.", replay.Thousands(e.Excess))
		}
	}
	if len(r.Stages) > 0 {
		var stages []string
		for _, st := range r.Stages {
			stages = append(stages, fmt.Sprintf("%s %s, %s tokens saved", st.Name, replay.Count(st.Edits, "time"), replay.Thousands(st.Saved)))
		}
		add("%s.", strings.Join(stages, "; "))
	}
	if r.Charged > 0 {
		add("A record stands for what was removed; it is charged %s tokens, whatever its text.", replay.Thousands(r.Charged))
	}
	add("The prompt cache serves %s of %s tokens.", replay.Thousands(r.Cached), replay.Thousands(r.Tokens))
	if over := r.Tokens - s.Tokens; over > 0 {
		add("That is %s tokens above the budget.", replay.Thousands(over))
	}
	return all
}

// row returns the row of a run of messages.
func (s *shown) row(r *replay.ShownRow) view {
	v := view{Full: replay.Thousands(r.Full), Sent: replay.Thousands(r.Tokens), Why: s.reasons(r)}
	switch r.Fate {
	case replay.Known:
		s.messages--
		v.Class, v.Since, v.What = "known", r.Since, known(r)
		return v
	case replay.Unchanged:
		v.Class, v.What = "same", "sent as it came"
		if r.To-r.From > 1 {
			v.What = "sent as they came"
		}
	case replay.Removed:
		v.Class, v.What = "removed", "removed"
	case replay.Edited:
		v.Class, v.What = "edited", "edited"
	case replay.Added:
		v.Class, v.What = "added", "added: "+r.Sent.Role
	}
	if v.Which = fmt.Sprint("message ", r.From); r.To-r.From > 1 {
		v.Which = fmt.Sprintf("messages %d to %d", r.From, r.To-1)
	}
	if r.Sent != nil {
		if slices.ContainsFunc(r.Sent.Pieces, func(p replay.Piece) bool { return p.Record }) {
			v.Class, v.What = "added", "with a record of what was removed"
			if r.From == r.To {
				v.What = "added: a record of what was removed"
			}
		}
		s.messages--
		m := s.sent(r)
		v.Sends = &m
		if r.To > r.From {
			v.Messages = []message{s.message(r.From, editedHead, editedLength)}
		}
		return v
	}
	v.Fold = r.To-r.From > fewMessages
	for i := r.From; i < r.To; i++ {
		if s.messages == 0 {
			v.More++
			s.cutMessages++
			continue
		}
		s.messages--
		v.Messages = append(v.Messages, s.message(i, 0, listedLength))
	}
	return v
}

// known returns a run that is as in the request before in words.
func known(r *replay.ShownRow) string {
	n := r.To - r.From
	if n == 0 {
		return "a message that was added before"
	}
	which := fmt.Sprintf("Message %d", r.From)
	if n > 1 {
		which = fmt.Sprintf("Messages %d to %d", r.From, r.To-1)
	}
	switch {
	case r.Gone == n && r.Changed == 0:
		return which + " as before: removed"
	case r.Gone == 0 && r.Changed == 0:
		return which + " as before: sent as the client sent them"
	}
	return fmt.Sprintf("%s as before: %d removed, %d edited or added, %d sent as they came", which, r.Gone, r.Changed, max(0, n-r.Gone-r.Changed))
}

// reasons returns the reasons of a row.
func (s *shown) reasons(r *replay.ShownRow) (all []why) {
	for _, e := range r.Edits {
		w := why{Stage: e.Stage, Why: e.Why}
		switch {
		case r.Fate == replay.Removed: // the row says its tokens
		case e.Saved > 0:
			w.Saved = replay.Thousands(e.Saved) + " tokens saved"
		}
		if e.Last {
			w.Why += "; the last resort, as it was recent"
		}
		all = append(all, w)
	}
	if len(all) == 0 && r.Fate == replay.Removed {
		all = append(all, why{Stage: "?", Why: "no edit says why"})
	}
	return all
}

// message returns one of the client's messages; head bytes of each text are seen
// at once, and length bytes are on the page. A head of 0 shows an excerpt.
func (s *shown) message(i, head, length int) message {
	from := &s.Messages[i]
	m := message{Number: i, Role: from.Role, About: notice(from.About), Tokens: replay.Thousands(from.Tokens)}
	for _, p := range from.Pieces {
		if head == 0 && s.text <= 0 { // the excerpt has to do
			s.cutTexts++
			s.cutBytes += len(p.Text)
			continue
		}
		m.Pieces = append(m.Pieces, s.piece(p, head, length))
	}
	if head == 0 {
		m.Excerpt = excerpt(from)
		s.text -= len(html.EscapeString(m.Excerpt))
		if len(m.Pieces) == 1 && m.Pieces[0].Kind == "" && m.Pieces[0].Head == m.Excerpt {
			m.Pieces = nil // all of it is on the line
		}
	}
	return m
}

// sent returns what is sent for a row.
func (s *shown) sent(r *replay.ShownRow) message {
	m := message{Number: -1, Role: r.Sent.Role, About: notice(r.Sent.About), Tokens: replay.Thousands(r.Sent.Tokens)}
	if r.To > r.From {
		m.Number = r.From
	}
	for _, p := range r.Sent.Pieces {
		switch {
		case p.Same:
			m.Pieces = append(m.Pieces, piece{Kind: notice(p.Kind), Note: "as the client sent it"})
		case p.Record:
			m.Pieces = append(m.Pieces, s.record(p))
		default:
			m.Pieces = append(m.Pieces, s.piece(p, editedHead, editedLength))
		}
	}
	return m
}

// piece returns a text. With a head of 0 all that is on the page is the head,
// because the message is shown by a click.
func (s *shown) piece(p replay.Piece, head, length int) piece {
	text := s.within(p.Text, length)
	out := piece{Kind: notice(p.Kind), Head: text}
	if head > 0 && len(text) > head+head/4 {
		out.Head = prefix(text, head)
		out.Rest = text[len(out.Head):]
		out.More = replay.Count(utf8.RuneCountInString(out.Rest), "more character")
	}
	out.Cut = cut(p.Text, text)
	return out
}

// record returns a text that stands for messages that were removed. Its beginning that
// was sent before is shown by a click.
func (s *shown) record(p replay.Piece) piece {
	text := s.within(p.Text, recordLength)
	out := piece{Kind: "record of what was removed", Head: text, Cut: cut(p.Text, text)}
	if p.Known > recordHead {
		out.Known = prefix(text, min(p.Known, len(text)))
		out.Head = text[len(out.Known):]
		out.Note = fmt.Sprintf("It begins as the record before it: %s.", replay.Count(utf8.RuneCountInString(out.Known), "character"))
	}
	if rest := out.Head; len(rest) > recordHead+recordHead/4 {
		out.Head = prefix(rest, recordHead)
		out.Rest = rest[len(out.Head):]
		out.More = replay.Count(utf8.RuneCountInString(out.Rest), "more character")
	}
	return out
}

// within returns the beginning of a text that is on the page: at most length
// bytes, and only an excerpt once the page has its fill.
func (s *shown) within(text string, length int) string {
	if s.text <= 0 {
		length = min(length, excerptLength)
	}
	short := strings.ToValidUTF8(prefix(text, length), "\uFFFD")
	s.text -= len(html.EscapeString(short))
	if len(short) < len(text) {
		s.cutTexts++
		s.cutBytes += len(text) - len(short)
	}
	return short
}

// cut says how much of a text is not on the page.
func cut(text, shown string) string {
	if len(shown) >= len(text) {
		return ""
	}
	return replay.Count(len(text)-len(shown), "byte") + " more, not on this page"
}

// prefix returns the first n bytes of a text, less if a character would be cut.
func prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// excerpt returns the beginning of what a message says, on one line.
func excerpt(m *replay.ShownMessage) string {
	for _, p := range m.Pieces {
		whole := strings.TrimSpace(p.Text)
		text := prefix(whole, 4*excerptLength)
		line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
		if line == "" {
			continue
		}
		if short := prefix(line, excerptLength); len(short) < len(line) || len(text) < len(whole) {
			return short + " …"
		}
		return line
	}
	for _, p := range m.Pieces {
		if p.Kind != "" {
			return notice(p.Kind)
		}
	}
	return "(nothing)"
}

// notice returns a name, cut where nobody would read on.
func notice(name string) string {
	if short := strings.ToValidUTF8(prefix(name, longestNoticed), "\uFFFD"); len(short) < len(name) {
		return short + "…"
	}
	return name
}
