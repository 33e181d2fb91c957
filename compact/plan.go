package compact

// Op says what an edit does.
type Op string

// The edits there are. The first nine are made by Repair, the others by the
// ladder.
const (
	OpDropEmptyCalls Op = "drop_empty_calls" // tool_calls: [] or null is removed
	OpDropMessage    Op = "drop_message"     // a message that says nothing is removed
	OpDropResult     Op = "drop_result"      // a result with content that no call can own is removed
	OpQuote          Op = "quote"            // such a result is quoted in a user message, because nothing else is left
	OpDropCall       Op = "drop_call"        // a call that nobody answered is removed
	OpAnswer         Op = "answer"           // a call that nobody answered gets a synthetic result
	OpSetID          Op = "set_id"           // a result takes the id of its call
	OpRename         Op = "rename"           // an id used twice, or missing, is renamed at call and result
	OpMove           Op = "move"             // a message changes its place
	OpRewrite        Op = "rewrite"          // a part's text is replaced
	OpArguments      Op = "arguments"        // the arguments of a call are shortened
	OpMedia          Op = "media"            // a media part becomes a line of text
	OpUnbind         Op = "unbind"           // thinking that is bound to what stood before it leaves its message
	OpRemove         Op = "remove"           // the messages [At, End) leave
)

// Edit is one change, as data, with its reason. The log, replay and explain
// read edits; nothing else records what was done.
type Edit struct {
	Op Op `json:"op"`
	// Stage is the stage of the ladder that made the edit, or "repair".
	Stage string `json:"stage"`
	// Why is the reason in a few words.
	Why string `json:"why"`
	// Origin is the index of the message in the client's list. For a message
	// that was added it is the index of the message it answers.
	Origin int `json:"origin"`
	// At is the index of the message in the repaired list. For a removal End
	// is the index behind the last message removed.
	At  int `json:"at"`
	End int `json:"end,omitempty"`
	// Part is the index of the part, or of the call, within the message.
	Part int `json:"part,omitempty"`
	// ID is the id of the call that is concerned, after the edit.
	ID string `json:"id,omitempty"`
	// Text is the new text of a rewritten part.
	Text string `json:"text,omitempty"`
	// Saved is how many tokens the edit saved; negative for an addition.
	Saved int `json:"saved"`
	// Epoch counts from 1; 0 for repairs.
	Epoch int `json:"epoch,omitempty"`
	// Last: the message was recent, and nothing else made the request fit.
	Last bool `json:"last,omitempty"`
}

// Epoch is one climb of the ladder.
type Epoch struct {
	// At is the request point: the number of messages of the repaired list
	// that stood before it.
	At int `json:"at"`
	// Before and After are the cost of the request at that point, in tokens.
	Before int `json:"before"`
	After  int `json:"after"`
	// Budget is what the epoch planned for: the policy's budget, or more where
	// what must stay leaves less than a quarter of that.
	Budget int `json:"budget"`
	// Excess is how far above Budget the request still was when the last
	// resort began; 0: no recent message was cut.
	Excess int `json:"excess,omitempty"`
	// Trigger is the cost above which an epoch starts, unless the one before
	// could not land; Land is where the climb wanted to stop.
	Trigger int `json:"trigger"`
	Land    int `json:"land"`
	// Crowded: the number of messages alone was too large.
	Crowded bool `json:"crowded,omitempty"`
}

// Plan is everything that was decided about one conversation, as data. It
// survives JSON, and applied to a longer conversation that starts the same it
// makes the same start.
type Plan struct {
	// Repair is the mode the conversation was repaired in.
	Repair RepairMode `json:"repair"`
	// Edits are in the order in which they apply.
	Edits  []Edit  `json:"edits,omitempty"`
	Epochs []Epoch `json:"epochs,omitempty"`
	// Slot is the place where older exchanges are replaced by one text; nil
	// where nothing was.
	Slot *Slot `json:"slot,omitempty"`

	result []Message      // what Apply gives, kept by the fold that made the plan
	coming func() *Coming // see Coming
}

// Slot is the place in a plan where older exchanges are replaced by one text.
// Its text follows the text of the first user message: an own message would
// break the chat templates that want users and assistants to alternate, or one
// system message at the most.
type Slot struct {
	// From and To say which run of the repaired list left for it.
	From int `json:"from"`
	To   int `json:"to"`
	// End is where the list ended when the slot was made. The text depends on
	// the messages before it, on the policy and on the budget, on nothing else.
	End int `json:"end"`
	// Sources is the same in messages of the client's list.
	Sources int `json:"sources"`
	// At is the index, in the repaired list, of the user message whose text
	// the slot follows; -1 where none stands before the run: then the text is
	// a message of its own, before message Before.
	At     int `json:"at"`
	Before int `json:"before"`
	// Role is that of such a message; 0: User.
	Role Role `json:"role,omitempty"`
	// Label heads a summary in the slot, as the system writes it that the policy
	// is known from; "": the frame's own words.
	Label string `json:"label,omitempty"`
	// Size is what the slot is charged, in tokens, whatever its text is.
	Size int `json:"size"`
	// Earlier are the ends of the runs that the slots of earlier epochs stood
	// for, oldest first; each began at From. A text for one of them needs only
	// what came since to become a text for this one.
	Earlier []int `json:"earlier,omitempty"`
	// Text is the digest, once it was asked for: see Digest.
	Text string `json:"text"`

	digest func() string
	spans  func() [][]Message
}
