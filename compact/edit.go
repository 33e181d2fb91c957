package compact

import "slices"

// An Op says what an edit does.
type Op string

// The operations. Those up to OpMove are made by [Repair], those up to OpInsert for
// [Demands], as OpRename is, too, and the others by the ladder.
const (
	OpMend        Op = "mend"         // what an API refuses, and no model reads, leaves a message or changes
	OpDropMessage Op = "drop_message" // a message that says nothing is removed
	OpDropResult  Op = "drop_result"  // a result with content that no call can own is removed
	OpQuote       Op = "quote"        // such a result is quoted in a user message, because nothing else is left
	OpDropCall    Op = "drop_call"    // a call without a result is removed
	OpAnswer      Op = "answer"       // a call without a result gets a synthetic one
	OpSetID       Op = "set_id"       // a result takes the id of its call
	OpRename      Op = "rename"       // an id used twice, or missing, is renamed at call and result
	OpMove        Op = "move"         // a message changes its place
	OpMerge       Op = "merge"        // the text of a message goes into the one beside it
	OpSplit       Op = "split"        // each call of a message gets one of its own
	OpInsert      Op = "insert"       // a turn is put between two of the same role
	OpRewrite     Op = "rewrite"      // the text of a part is replaced
	OpArguments   Op = "arguments"    // the arguments of a call are shortened
	OpMedia       Op = "media"        // a media part becomes text
	OpUnbind      Op = "unbind"       // bound thinking leaves its message
	OpRemove      Op = "remove"       // the messages [At, End) leave
)

// An Edit is one change and its reason, as data. The log, replay and explain
// read edits; nothing else notes what was done.
type Edit struct {
	Op Op `json:"op"`
	// Stage is the stage of the ladder that made the edit, or "repair".
	Stage string `json:"stage"`
	// Why is the reason in a few words.
	Why string `json:"why"`
	// Origin is the index of the message in the client's list. For an added
	// message it is the index of the message it answers.
	Origin int `json:"origin"`
	// At is the index of the message in the repaired list. For a removal, End
	// is the index after the last message removed.
	At  int `json:"at"`
	End int `json:"end,omitempty"`
	// Part is the index of the part, or of the call, within the message.
	Part int `json:"part,omitempty"`
	// ID is the id of the call concerned, after the edit.
	ID string `json:"id,omitempty"`
	// Text is the new text of a part, or the new arguments of a call.
	Text string `json:"text,omitempty"`
	// Saved is the number of tokens saved; negative for an addition.
	Saved int `json:"saved"`
	// Epoch counts from 1; 0 for repairs.
	Epoch int `json:"epoch,omitempty"`
	// Last is set if the message was recent, and nothing else made the request
	// fit.
	Last bool `json:"last,omitempty"`
}

// Messages returns how many messages the edit is of: 1, or those that leave.
func (e *Edit) Messages() int {
	if e.Op == OpRemove {
		return e.End - e.At
	}
	return 1
}

// apply makes the edit of its message. own: its parts and calls are no other list's.
func (e *Edit) apply(m *Message, own bool) {
	if !own {
		m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	}
	switch e.Op {
	case OpRewrite, OpMedia:
		m.Parts[e.Part] = rewritten(m.Parts[e.Part], e.Op, e.Text)
	case OpArguments:
		m.Calls[e.Part].Arguments = Plain(e.Text)
	case OpUnbind:
		*m = m.Unbound()
	}
	m.Edited = true
}

// rewritten returns a part with a new text. A media part becomes text.
func rewritten(p Part, op Op, text string) Part {
	p.Text = Plain(text)
	if op == OpMedia {
		p.Kind, p.Detail = KindText, ""
	}
	return p
}

// repairStage is the stage of the edits of repairs.
const repairStage = "repair"

// stageThinking names what took bound thinking out, in edits and reports.
const stageThinking = "thinking"
