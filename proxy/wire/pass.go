package wire

import (
	"cmp"
	"strconv"
)

// Code says in one word why a body is forwarded unread. It is part of the
// interface: logs and metrics carry it.
type Code string

// The reasons to forward a body unread, in the order in which a body is looked at, each
// with the sentence for the user.
var (
	EmptyBody        = code("empty_body", "the body is empty")
	TooLarge         = code("too_large", "the body is larger than 4 GiB")
	InvalidJSON      = code("invalid_json", "the body is not valid JSON")
	NotObject        = code("not_an_object", "the body is not a JSON object")
	InvalidUTF8      = code("invalid_utf8", "the body is not valid UTF-8, or has half of a surrogate pair")
	DuplicateKey     = code("duplicate_key", "an object of the body has a key twice")
	AmbiguousKey     = code("ambiguous_key", "a key of the body is read by some servers as another key")
	TooDeep          = code("too_deep", "the body is nested deeper than "+strconv.Itoa(MaxDepth)+" levels")
	TooMany          = code("too_many", "the body has more than "+strconv.Itoa(MaxElements)+" messages, parts and calls, or an object of more than "+strconv.Itoa(MaxKeys)+" keys")
	TrailingData     = code("trailing_data", "something follows the end of the JSON object")
	MessagesMissing  = code("messages_missing", "the list of messages is missing")
	MessagesNull     = code("messages_null", "the list of messages is null")
	MessagesNotArray = code("messages_not_an_array", "the list of messages is not an array")
	MessagesEmpty    = code("messages_empty", "the list of messages is empty")
	MessageNotObject = code("message_not_an_object", "a message is not an object")
	RoleMissing      = code("role_missing", "a message has no role")
	RoleNotString    = code("role_not_a_string", "the role of a message is not a string")
	RoleUnknown      = code("role_unknown", "the role of a message is not one of the API")
	WrongType        = code("wrong_type", "a field has a type that the API does not know there")
	HistoryElsewhere = code("history_elsewhere", "a part of the history is at the upstream and not in the body")
	CallElsewhere    = code("call_elsewhere", "a result answers a call that is not in the body")
	ContextManaged   = code("context_managed", "the upstream is asked to compact by itself")
)

// sentences has the sentence of each reason.
var sentences = map[Code]string{}

func code(name Code, sentence string) Code {
	sentences[name] = sentence
	return name
}

// Sentence is the reason for a user to read, without a full stop.
func (c Code) Sentence() string { return cmp.Or(sentences[c], "the body cannot be read") }

// PassError is why a body is not read: it is to be forwarded as it came, or
// refused where the configuration is strict. It holds nothing of what the body
// says; keys are named only if the API has them.
type PassError struct {
	Reason Code
	// Detail says more for the operator: which message, which key. May be "".
	Detail string
	// Offset is the position in the body, in bytes, at or near which the
	// reason is.
	Offset int64
}

// Error returns the sentence, the detail and the place.
func (e *PassError) Error() string {
	return e.Says() + " (byte " + strconv.FormatInt(e.Offset, 10) + ")"
}

// Says returns the sentence without the offset.
func (e *PassError) Says() string {
	if e.Detail == "" {
		return e.Reason.Sentence()
	}
	return e.Reason.Sentence() + ": " + e.Detail
}
