package wire

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many objects and arrays may stand within each other, so nothing
// that recurses ever sees more.
const MaxDepth = 512

// maxKeys is how many keys one object may have: jsontext remembers them until its
// end.
const maxKeys = 100_000

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
	TooMany          = code("too_many", "the body has more than "+strconv.Itoa(maxElements)+" messages, parts and calls, or an object of more than "+strconv.Itoa(maxKeys)+" keys")
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

// check returns why a body is not one JSON object that every reader reads alike, nil
// if it is. The verdict is jsontext's with its strict defaults: RFC 8259, UTF-8, no
// surrogate without its other half, no key twice in one object. known are the keys
// that an error may name.
func check(body []byte, known []string) *PassError {
	start := len(body) - len(trimSpace(body))
	switch {
	case uint64(len(body)) > math.MaxUint32:
		return &PassError{Reason: TooLarge, Offset: math.MaxUint32}
	case start == len(body):
		return &PassError{Reason: EmptyBody, Offset: int64(start)}
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return &PassError{Reason: NotObject, Detail: "it begins with a byte order mark"}
	case body[start] != '{':
		return &PassError{Reason: NotObject, Offset: int64(start)}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for depth := 1; depth > 0; depth = d.StackDepth() {
		if _, err := d.ReadToken(); err != nil {
			return syntaxError(err, len(body), known)
		}
		if d.StackDepth() > MaxDepth {
			return &PassError{Reason: TooDeep, Offset: d.InputOffset() - 1}
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n > 2*maxKeys {
			return &PassError{Reason: TooMany, Offset: d.InputOffset()}
		}
	}
	if rest := trimSpace(body[d.InputOffset():]); len(rest) > 0 {
		return &PassError{Reason: TrailingData, Offset: int64(len(body) - len(rest))}
	}
	return nil
}

// syntaxError says what jsontext says of a body of some size. A key is named only if
// it is known: it could be content.
func syntaxError(err error, size int, known []string) *PassError {
	fault, _ := errors.AsType[*jsontext.SyntacticError](err) // bytes that are there cannot fail otherwise
	pass := &PassError{Reason: InvalidJSON, Offset: min(fault.ByteOffset, int64(size))}
	why := fault.Err.Error()
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		pass.Reason = DuplicateKey
		if key := fault.JSONPointer.LastToken(); slices.Contains(known, key) {
			pass.Detail = key
		}
	case strings.HasPrefix(why, "invalid UTF-8"), strings.HasPrefix(why, "invalid surrogate pair"):
		pass.Reason = InvalidUTF8
	}
	return pass
}

func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }
