package wire

import "strconv"

// Code says in one word why a body is forwarded unread. It is part of the
// interface: logs and metrics carry it.
type Code string

// The reasons to forward a body unread.
const (
	EmptyBody        Code = "empty_body"
	InvalidJSON      Code = "invalid_json"
	NotObject        Code = "not_an_object"
	InvalidUTF8      Code = "invalid_utf8"
	DuplicateKey     Code = "duplicate_key"
	AmbiguousKey     Code = "ambiguous_key"
	TooDeep          Code = "too_deep"
	TooMany          Code = "too_many"
	TooLarge         Code = "too_large"
	TrailingData     Code = "trailing_data"
	MessagesMissing  Code = "messages_missing"
	MessagesNull     Code = "messages_null"
	MessagesNotArray Code = "messages_not_an_array"
	MessagesEmpty    Code = "messages_empty"
	MessageNotObject Code = "message_not_an_object"
	RoleMissing      Code = "role_missing"
	RoleNotString    Code = "role_not_a_string"
	RoleUnknown      Code = "role_unknown"
	WrongType        Code = "wrong_type"
	HistoryElsewhere Code = "history_elsewhere"
	CallElsewhere    Code = "call_elsewhere"
	ContextManaged   Code = "context_managed"
)

// Codes are all reasons, in the order in which a body is looked at, each with
// the sentence for the user.
var Codes = []struct {
	Code     Code
	Sentence string
}{
	{EmptyBody, "the body is empty"},
	{TooLarge, "the body is larger than 4 GiB"},
	{InvalidJSON, "the body is not valid JSON"},
	{NotObject, "the body is not a JSON object"},
	{InvalidUTF8, "the body is not valid UTF-8, or has half of a surrogate pair"},
	{DuplicateKey, "an object of the body has a key twice"},
	{AmbiguousKey, "a key of the body is read by some servers as another key"},
	{TooDeep, "the body is nested deeper than " + strconv.Itoa(MaxDepth) + " levels"},
	{TooMany, "the body has more than " + strconv.Itoa(MaxElements) + " messages, parts and calls, or an object of more than " + strconv.Itoa(MaxKeys) + " keys"},
	{TrailingData, "something follows the end of the JSON object"},
	{MessagesMissing, "the list of messages is missing"},
	{MessagesNull, "the list of messages is null"},
	{MessagesNotArray, "the list of messages is not an array"},
	{MessagesEmpty, "the list of messages is empty"},
	{MessageNotObject, "a message is not an object"},
	{RoleMissing, "a message has no role"},
	{RoleNotString, "the role of a message is not a string"},
	{RoleUnknown, "the role of a message is not one of the API"},
	{WrongType, "a field has a type that the API does not know there"},
	{HistoryElsewhere, "a part of the history is at the upstream and not in the body"},
	{CallElsewhere, "a result answers a call that is not in the body"},
	{ContextManaged, "the upstream is asked to compact by itself"},
}

// Sentence is the reason for a user to read, without a full stop.
func (c Code) Sentence() string {
	for _, r := range Codes {
		if r.Code == c {
			return r.Sentence
		}
	}
	return "the body cannot be read"
}

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
