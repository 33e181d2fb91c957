package wire

import (
	"laconic/compact"
	"laconic/proxy/overflow"
)

// Wire is one API of upstreams: how its requests and answers are read, and how
// its errors are written. A Wire has no state.
type Wire interface {
	// Name names the API in logs, metrics and the keys of what is learnt.
	Name() string
	// Decode reads the body of a request. Its error is always a *PassError. The
	// body must not be written to afterwards.
	Decode(body []byte) (*Request, error)
	// FirstEvent returns the error that an answer with status 200 begins with, by the
	// start of its body. With known and no error the answer begins with none; see
	// [overflow.FirstEvent].
	FirstEvent(start []byte, whole bool) (refusal []byte, known bool)
	// Refusal reads an error: the body of an answer, or the data of its first
	// event.
	Refusal(status int, text []byte) Refusal
	// End reads how an answer with status 200 ended.
	End(a Answer) End
	// AnsweredBy returns the model that an answer names at its top, "" where what is
	// there of it shows none.
	AnsweredBy(a Answer) string
	// TooLong says that a conversation stays above its budget: of tokens, of which
	// the client's tools take some, or of messages, of which there may be most.
	TooLong(r *compact.Report, most, tools int) Error
	// Error returns the body of an error of the proxy's own.
	Error(e Error) []byte
}

// All are the wires that there are.
var All = []Wire{Chat, Responses, Messages}

// Error is an error of the proxy's own as a client reads it. Param names the field
// at fault; it may be "". The types are OpenAI's.
type Error struct {
	Message, Type, Param, Code string
}

// Refusal is what an error says of the request that was refused.
type Refusal struct {
	// Size is what was too large; its Kind is overflow.None if nothing was.
	Size overflow.Refusal
	// Template is what the upstream's chat template does not take.
	Template overflow.Template
	// Thinking is the same for thinking in the history.
	Thinking overflow.Template
	// Generated reports whether tokens were generated before the error. Then it is
	// no refusal, and the tokens are on the bill.
	Generated bool
}

// Answer is what is kept of an answer with status 200 that passed: how it begins, where
// some APIs count the prompt, and how it ends. The two overlap in a short one.
type Answer struct {
	Head, Tail []byte
	Stream     bool // it is an event stream
	Whole      bool // Tail is all of it
}

// Usage is what an upstream says that an answer cost, in tokens.
type Usage struct {
	Prompt, Completion, Cached int
	CacheStated                bool // it states Cached
}

// End is what the end of an answer shows.
type End struct {
	Usage *Usage // nil if the answer reports none that can be read
	// Done reports whether a stream says that it is complete.
	Done bool
	// Flaw names what is wrong with the answer, "" if nothing is: one of the
	// constants below.
	Flaw string
	// Generated reports whether it is the end of an answer, and not of an error
	// that came behind the first event.
	Generated bool
}

// The flaws of answers with status 200 that an operator should know of: the prompt
// filled the window, or seems to have, or the upstream ended a stream that is not
// complete. The client has all of it by then, so that they are named and nothing
// more: no answer is generated twice.
const (
	// HalfEvent: the stream was ended cleanly in the middle of an event.
	HalfEvent = "half_event"
	// WithoutDone: the stream was ended cleanly, and does not say that it is
	// complete.
	WithoutDone = "without_done"
	// AtWindow: the finish reason says that the window was full (Anthropic, z.ai).
	AtWindow = "context_window"
	// BeforeOutput: the answer ended for its length without a token. The prompt was
	// cut to the window and left no room (MiMo).
	BeforeOutput = "length_without_output"
	// Empty: the stream was ended cleanly and has no delta at all (LM Studio with
	// GGUF models).
	Empty = "without_output"
)

// routes are the wires, by the endpoint that speaks each and by the one that counts the
// tokens of its requests, if any does: paths without /v1. A new one is one row of each.
var routes = map[string]struct{ wire, counts Wire }{
	"/chat/completions":      {wire: Chat},
	"/messages":              {wire: Messages},
	"/messages/count_tokens": {counts: Messages},
	"/responses":             {wire: Responses},
}

// For returns the wire of an endpoint, nil if its bodies are not read, and the one whose
// requests it counts, nil if it counts none.
func For(endpoint string) (w, counts Wire) {
	r := routes[endpoint]
	return r.wire, r.counts
}
