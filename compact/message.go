package compact

import (
	"slices"
	"strings"
)

// A Role says who speaks in a message.
type Role uint8

// The roles.
const (
	System Role = iota + 1
	Developer
	User
	Assistant
	Tool
)

// String returns the name of the role.
func (r Role) String() string { return roleNames[r] }

// MarshalText returns the name of the role.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

var roleNames = [...]string{"unknown", "system", "developer", "user", "assistant", "tool"}

// RoleNamed returns the role with a name, and false for any other name.
func RoleNamed(name string) (Role, bool) {
	r := slices.Index(roleNames[1:], name) + 1
	return Role(r), r > 0
}

// Instruction reports whether the role instructs the model. Instructions are
// never edited, and removed only if a later message repeats them, or with the
// results that they directly follow.
func (r Role) Instruction() bool { return r == System || r == Developer }

// Result reports whether the role answers a call.
func (r Role) Result() bool { return r == Tool }

// A Kind says what a part is.
type Kind uint8

// The kinds of part. KindOther is any kind that is not known here: such a part
// is kept, charged by its bytes, and never edited.
const (
	KindText Kind = iota
	KindImage
	KindAudio
	KindFile
	KindVideo
	KindRefusal
	KindOther
)

// A Shape says how the content of a message is written.
type Shape uint8

// The shapes of content. No edit changes the shape of a message that the client
// sent, because upstreams differ in what they accept: at Ollama, a tool result
// that becomes an array loses its id.
const (
	Absent Shape = iota
	Null
	String
	Array
)

// A Part is one piece of a message's content.
type Part struct {
	Kind Kind
	// Nth is the number of the part in the client's message, from 1; 0: the
	// client did not send it.
	Nth uint32
	// Text is what the model reads. For media it is the URL or the base64 data,
	// for KindOther the whole part as it came.
	Text Text
	// Detail is the image detail, the audio format or the file name.
	Detail string
	// Thought is set for a piece of the message's thinking, whose text is
	// Reasoning.
	Thought bool
}

// byName begins an id that nobody sent. No JSON string begins so.
const byName = "\xff"

// ByName returns the id of calls and results that pair by a name, as the legacy
// calls of the chat API do. It is never renamed.
func ByName(name string) string { return byName + name }

// NameIn returns the name in an id of [ByName], and any other id with false.
func NameIn(id string) (name string, ok bool) { return strings.CutPrefix(id, byName) }

// RoleName returns the name of the role, and "function" for a result that is paired
// by name.
func (m *Message) RoleName() string {
	if _, named := NameIn(m.Answers); named {
		return "function"
	}
	return m.Role.String()
}

// A Call is one tool call of an assistant message.
type Call struct {
	Custom    bool   // of a custom tool, and not of a function
	Nth       uint32 // number in the client's message, from 1; 0: the client did not send it
	ID        string // "" if missing or not a string
	Name      string
	Arguments Text // as sent: usually JSON, not always
	Sealed    bool // has a signature (Gemini's thought_signature): the arguments may not change
}

// Added is the Origin of a message that the client did not send.
const Added = -1

// A Message is one message of a conversation, as far as compaction needs to see
// it. Everything else (unknown fields, markers, spacing) stays in the client's
// bytes, into which edits are spliced.
type Message struct {
	Role  Role
	Shape Shape
	Parts []Part
	Calls []Call
	// Flawed is set by a wire if the message has what the API refuses and no model
	// reads: tool_calls that are [] or null, the id of an earlier item, the type of an
	// output that is not its call's.
	Flawed bool
	// Answers is the id of the call that a result answers, or "" if missing.
	Answers string
	Name    string
	// Reasoning is the thinking of an assistant message.
	Reasoning Text
	// Refusal is the text of an assistant message that refuses.
	Refusal Text
	// Sound is set if the message answers in sound, which the upstream finds by
	// an id.
	Sound bool
	// Seal says which pieces may not be edited, and why. The message may be
	// removed whole.
	Seal Seal
	// Open is set for an assistant message that the model is to continue
	// (prefix, partial, continue_final_message). It is left alone.
	Open bool
	// Holds is set if something beside content and calls gives the message a
	// meaning, such as a refusal or an audio answer.
	Holds bool
	// Kept is set by a wire if the message neither changes nor leaves, as if it were
	// pinned.
	Kept bool
	// Joined is set by a wire if an assistant message continues the answer before it,
	// behind results of that: it leaves only with that answer, and no request came
	// before it.
	Joined bool
	// Replaces is set by a wire if the message says all that the messages before it
	// say. It is kept, and what is old before it leaves first, and for no record.
	Replaces bool
	// Failed is set if a result says that the tool failed, where the API has a field
	// for it.
	Failed bool
	// Rest is set if the client's message was split, and this has a later one of its
	// calls and nothing else.
	Rest bool
	// Origin is the message's index in the client's list, or Added.
	Origin int
	// Edited is set if the message differs from what the client sent.
	Edited bool
	// Sum tells what the client sent from all other messages; the zero Sum: nobody
	// made one. It says nothing of a message that was edited.
	Sum Sum
}

// A Seal says which pieces of a message may not be edited: Gemini, Anthropic and
// DeepSeek refuse a turn with thinking that changed.
type Seal uint8

// The seals. Bound thinking and the signatures of calls seal all of a message.
const (
	SealText      Seal = 1 << iota // reasoning or a signature beside the text
	SealArguments                  // the same beside the calls
	// SealCalls is set as long as one of the calls has a signature.
	SealCalls
	// SealBound is set if the message has thinking that the upstream signed
	// together with everything before it, and refuses after anything else.
	// Reasoning is the text of that thinking, which may leave the message as a
	// whole: see OpUnbind.
	SealBound
)

// Sealed reports whether pieces of a kind may not be edited.
func (m *Message) Sealed(pieces Seal) bool { return m.Seal&(pieces|SealCalls|SealBound) != 0 }

// Bound reports whether the message has bound thinking.
func (m *Message) Bound() bool { return m.Seal&SealBound != 0 }

// A Sum is a hash of a message's bytes, keyed so that clients cannot look for two
// messages that share one, and their number.
type Sum struct {
	Hash [2]uint64
	Size int
}

// Empty reports whether an assistant message says nothing at all. OpenAI refuses
// such a message.
func (m *Message) Empty() bool {
	blank := m.Shape == Absent || m.Shape == Null || (m.Shape == Array && len(m.Parts) == 0)
	return blank && len(m.Calls) == 0 && !m.Holds && !m.kept() && !m.Open && m.Seal == 0 && m.Reasoning.Len() == 0
}

// kept reports whether a wire says that the message stays.
func (m *Message) kept() bool { return m.Kept || m.Replaces }

// Says reports whether there is anything in the message beside calls and
// reasoning.
func (m *Message) Says() bool {
	return m.Holds || slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind != KindText || p.Text.Len() > 0 })
}

// Equal reports whether an upstream would see the same. It ignores Origin,
// Edited, Sum and Nth.
func (m *Message) Equal(o *Message) bool {
	return m.Role == o.Role && m.Shape == o.Shape && m.Answers == o.Answers && m.Name == o.Name && m.Failed == o.Failed &&
		m.Flawed == o.Flawed && m.Seal == o.Seal && m.Open == o.Open && m.Holds == o.Holds && m.Rest == o.Rest &&
		m.Sound == o.Sound && m.Reasoning.Equal(o.Reasoning) && m.Refusal.Equal(o.Refusal) && slices.EqualFunc(m.Parts, o.Parts, Part.Equal) &&
		slices.EqualFunc(m.Calls, o.Calls, Call.Equal)
}

// Equal reports whether two parts are the same.
func (p Part) Equal(q Part) bool {
	return p.Kind == q.Kind && p.Detail == q.Detail && p.Text.Equal(q.Text)
}

// Equal reports whether two calls are the same.
func (c Call) Equal(o Call) bool {
	return c.Custom == o.Custom && c.ID == o.ID && c.Name == o.Name && c.Sealed == o.Sealed && c.Arguments.Equal(o.Arguments)
}

// Media reports whether a part shows or plays something.
func (k Kind) Media() bool {
	return k == KindImage || k == KindAudio || k == KindFile || k == KindVideo
}

// media reports whether a part of the message shows or plays something.
func (m *Message) media() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind.Media() })
}

// calling reports whether the message has calls.
func (m *Message) calling() bool { return m.Role == Assistant && len(m.Calls) > 0 }

// text returns the text of a message's content.
func (m *Message) text() string {
	var texts []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindText && p.Text.Len() > 0 {
			texts = append(texts, p.Text.String())
		}
	}
	return strings.Join(texts, "\n")
}

// append adds parts to the end of a message's content.
func (m *Message) append(parts []Part) {
	m.Parts, m.Edited = append(slices.Clip(m.Parts), parts...), true
	if m.Shape != Array {
		m.Shape = String
	}
}

// NoThinking is the text of a message that had nothing but bound thinking, once
// that has left.
const NoThinking = "(thinking left out)"

// Unbound returns the message without its bound thinking.
func (m Message) Unbound() Message {
	m.Seal &^= SealBound
	m.Reasoning, m.Edited = Text{}, true
	had := len(m.Parts)
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Thought })
	if m.Empty() || had > 0 && len(m.Parts) == 0 {
		m.Parts = nil
		m.append([]Part{{Text: Plain(NoThinking)}})
	}
	return m
}
