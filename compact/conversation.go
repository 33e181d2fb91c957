package compact

import "slices"

// Role says who speaks in a message.
type Role uint8

// The roles of the chat API. Function is the legacy form of Tool.
const (
	System Role = iota + 1
	Developer
	User
	Assistant
	Tool
	Function
)

// String gives the role's name on the wire.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "unknown"
}

var roleNames = [...]string{"unknown", "system", "developer", "user", "assistant", "tool", "function"}

// RoleNamed gives the role with that name on the wire; false for any other name.
func RoleNamed(name string) (Role, bool) {
	for r, n := range roleNames {
		if r > 0 && n == name {
			return Role(r), true
		}
	}
	return 0, false
}

// Head tells whether the role instructs the model: such messages are never
// edited and never removed.
func (r Role) Instruction() bool { return r == System || r == Developer }

// Result tells whether the role answers a call.
func (r Role) Result() bool { return r == Tool || r == Function }

// Kind says what a part is.
type Kind uint8

// The kinds of part. Other is a kind this version does not know: it is kept,
// charged by its bytes, and never edited.
const (
	KindText Kind = iota
	KindImage
	KindAudio
	KindFile
	KindVideo
	KindRefusal
	KindOther
)

// Shape says how the content of a message was written.
type Shape uint8

// The shapes of content. An edit never changes the shape of a message that the
// client sent, because upstreams differ in what they take (a tool result that
// becomes an array loses its id at Ollama).
const (
	Absent Shape = iota
	Null
	String
	Array
)

// Part is one piece of a message's content.
type Part struct {
	Kind Kind
	// Nth says which part of the client's message this is, from 1; 0: the
	// client did not send it.
	Nth uint32
	// Text is what the model reads. For media it is the URL or the base64 data,
	// for KindOther the whole part as it came.
	Text Text
	// Detail is the image detail, the audio format or the file name.
	Detail string
	// Thought: it is a piece of the message's thinking, whose text is Reasoning.
	Thought bool
}

// CallKind says in which form a call was written.
type CallKind uint8

// The forms of a call: tool_calls with a function, tool_calls with a custom
// tool, and the legacy function_call, which has no id and is paired by name.
const (
	CallFunction CallKind = iota
	CallCustom
	CallLegacy
)

// Call is one tool call of an assistant message.
type Call struct {
	Kind      CallKind
	Nth       uint32 // which call of the client's message this is, from 1; 0: the client did not send it
	ID        string // "" when missing or not a string
	Name      string
	Arguments Text // the arguments as sent: usually JSON, not always
	Sealed    bool // carries a signature (Gemini's thought_signature): arguments may not change
}

// Added is the Origin of a message that the client did not send.
const Added = -1

// Message is one message of a conversation, as far as compaction needs to see
// it. What is not here (unknown fields, markers, spacing) stays with the bytes
// and is never lost, because edits are spliced into the client's own bytes.
type Message struct {
	Role  Role
	Shape Shape
	Parts []Part
	Calls []Call
	// EmptyCalls: tool_calls is present but [] or null, which OpenAI refuses.
	EmptyCalls bool
	// Answers is the id of the call that this result answers, "" when missing.
	// For the legacy role function it is the function's name.
	Answers string
	Name    string
	// Reasoning is the thinking that travels with an assistant message.
	Reasoning Text
	// Refusal is what an assistant message says in place of content.
	Refusal Text
	// Sound: the message answers in sound, which is not in the request: it has
	// an id by which the upstream finds it.
	Sound bool
	// Sealed: the message carries reasoning or a signature, so it may only be
	// removed whole, never edited: Gemini, Anthropic and DeepSeek refuse a
	// thinking turn that changed.
	Sealed bool
	// SealedByCalls: the signatures of its calls are all that seals it, but for
	// bound thinking.
	SealedByCalls bool
	// Bound: the message carries thinking that the upstream has signed together
	// with all that stood before it, and refuses behind anything else. Reasoning
	// is its text. It may leave alone, all of it: see OpUnbind.
	Bound bool
	// SealedBeside: something else than bound thinking seals the message too.
	SealedBeside bool
	// Open: an assistant message that the model is asked to go on with
	// (prefix, partial, continue_final_message). It is left alone.
	Open bool
	// Holds: there is a refusal, an audio answer or another thing beside
	// content and calls that gives the message a meaning.
	Holds bool
	// Origin is the message's index in the client's list, or Added.
	Origin int
	// Edited: the message no longer equals what the client sent.
	Edited bool
}

// Empty tells whether an assistant message says nothing at all: such a message
// is refused by OpenAI and carries no meaning.
func (m *Message) Empty() bool {
	blank := m.Shape == Absent || m.Shape == Null || (m.Shape == Array && len(m.Parts) == 0)
	return blank && len(m.Calls) == 0 && !m.Holds && !m.Open && !m.Sealed && m.Reasoning.Len() == 0
}

func (p Part) thought() bool { return p.Thought }

// NoThinking is the text of a message that held nothing but bound thinking,
// once that has left.
const NoThinking = "(thinking left out)"

// unbound is the message without its bound thinking.
func (m Message) unbound() Message {
	m.Bound, m.Sealed, m.SealedBeside = false, m.SealedBeside, false
	m.Reasoning, m.Edited = Text{}, true
	had := len(m.Parts)
	if slices.ContainsFunc(m.Parts, Part.thought) {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), Part.thought)
	}
	if m.Empty() || had > 0 && len(m.Parts) == 0 {
		m.Parts = []Part{{Text: Plain(NoThinking)}}
		if m.Shape != Array {
			m.Shape = String
		}
	}
	return m
}

// staysSealed reports whether the message is sealed by more than its bound
// thinking.
func (m *Message) staysSealed() bool { return m.Sealed && (!m.Bound || m.SealedBeside) }

// says reports whether there is anything in the message beside calls and
// reasoning.
func (m *Message) says() bool {
	return m.Holds || slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind != KindText || p.Text.Len() > 0 })
}

// Equal tells whether an upstream would see the same: everything but the marks
// Origin, Edited and Nth.
func (m *Message) Equal(o *Message) bool {
	return m.Role == o.Role && m.Shape == o.Shape && m.Answers == o.Answers && m.Name == o.Name &&
		m.EmptyCalls == o.EmptyCalls && m.Sealed == o.Sealed && m.Bound == o.Bound && m.Open == o.Open && m.Holds == o.Holds &&
		m.Sound == o.Sound && m.Reasoning.Equal(o.Reasoning) && m.Refusal.Equal(o.Refusal) && slices.EqualFunc(m.Parts, o.Parts, Part.Equal) &&
		slices.EqualFunc(m.Calls, o.Calls, Call.Equal)
}

// Equal tells whether two parts are the same.
func (p Part) Equal(q Part) bool {
	return p.Kind == q.Kind && p.Detail == q.Detail && p.Text.Equal(q.Text)
}

// Equal tells whether two calls are the same.
func (c Call) Equal(o Call) bool {
	return c.Kind == o.Kind && c.ID == o.ID && c.Name == o.Name && c.Sealed == o.Sealed && c.Arguments.Equal(o.Arguments)
}

// Conversation is what the model will read: the messages, and the cost in
// tokens of everything else that is fixed for this request (tools, functions,
// response_format, framing).
type Conversation struct {
	Messages []Message
	Fixed    int
	// Unbind is the index in the client's list before which no message has its
	// bound thinking any more, because an earlier request took it out; 0: none.
	Unbind int
}
