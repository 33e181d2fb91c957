package overflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Begins is what the start of an answer under status 200 is, as far as it has
// come.
type Begins int

const (
	Answer Begins = iota // an answer, or anything but an error: hand it on
	Error                // an error, whole: read it
	Maybe                // what is there may become an error: more is needed
)

// Events are the events of an API's streams, as far as the first matters.
type Events struct {
	// Generated are the keys, at the top of an event, of lists of what was generated.
	Generated []string
	// Opening are the types of events that come before the one that decides.
	Opening []string
}

// failed is the type of an event that is an error, and echoes the request as those
// that open a stream do.
const failed = "response.failed"

// opens reports whether an event decides nothing, by its name or by what is there of
// its data.
func (of *Events) opens(e *event) bool {
	return slices.Contains(of.Opening, cmp.Or(e.name, typeIn(e.data)))
}

// long reports whether all of an event is waited for, whatever its size.
func (of *Events) long(e *event) bool {
	return of.opens(e) || len(of.Opening) > 0 && cmp.Or(e.name, typeIn(e.data)) == failed
}

// FirstEvent looks at the start of an answer under status 200, not compressed
// any more. whole: nothing follows. data is the JSON of the error
// when it begins with one.
//
// It asks for more only while an answer may still be an error: not after a
// comment, by which an upstream says that it is alive, and not in an event that
// holds something generated. Half an event is of no use to a client, so that
// none waits for it; an upstream that is slow within its first event is waited
// for until that is decided, up to mostUndecided bytes of it. Events that open a
// stream are not counted: they decide nothing, and echo the request.
func FirstEvent(start []byte, whole bool, of Events) (b Begins, data []byte) {
	if trimmed := bytes.TrimLeft(start, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if len(trimmed) == len(start) || whole {
			return object(trimmed, whole, len(start), of.Generated)
		}
		return Answer, nil // blank lines say that somebody is alive (DeepSeek)
	}
	for rest := start; ; {
		e, after := cutEvent(rest, whole)
		switch {
		case e.other:
			return Answer, nil
		case e.ended && !of.opens(&e):
			return verdict(e.data)
		case !e.ended && of.long(&e):
			return Maybe, nil
		case !e.ended:
			return waiting(e.data, len(rest), of.Generated), nil
		case len(after) > 0:
			rest = after
		case whole:
			return Answer, nil
		default:
			return Maybe, nil
		}
	}
}

// event is the first event of a stream, as far as it has come.
type event struct {
	name  string
	data  []byte
	ended bool
	other bool // it is none, or none that an error may be
}

// fields are those of events. llama.cpp wrote "error: {…}" for a while.
var fields = []string{"data", "error", "event", "id", "retry"}

// cutEvent cuts the first event of a stream.
func cutEvent(b []byte, whole bool) (e event, rest []byte) {
	for {
		line, after, complete := cutLine(b)
		field, value, named := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch name := string(field); {
		case complete && len(line) == 0:
			e.ended, e.other = true, e.data == nil // a blank line before an event is a byte to hand on
			return e, after
		case !named && !complete && !whole:
			e.other = !slices.ContainsFunc(fields, func(known string) bool { return strings.HasPrefix(known, name) })
		case name == "data" || name == "error":
			e.data = append(e.data, value...)
		case name == "event" && complete:
			e.name = string(value)
		default:
			e.other = !slices.Contains(fields, name)
		}
		if b = after; e.other || len(b) == 0 {
			e.ended, e.other = whole, e.other || whole && e.data == nil
			return e, nil
		}
	}
}

// waiting judges an event by its data so far.
func waiting(data []byte, held int, generated []string) Begins {
	if len(data) == 0 {
		if held > mostUndecided {
			return Answer
		}
		return Maybe
	}
	if b, _ := object(data, false, held, generated); b == Answer {
		return Answer
	}
	return Maybe
}

// object judges a JSON value by what is there of it, in an answer of which held
// bytes are there.
func object(raw []byte, whole bool, held int, generated []string) (Begins, []byte) {
	if marked(raw) && json.Valid(raw) {
		return verdict(raw)
	}
	if whole {
		return Answer, nil
	}
	return undecided(raw, held, generated), nil
}

// verdict reports whether data is an error or an answer.
func verdict(data []byte) (Begins, []byte) {
	if !marked(data) || len(sentences(200, data)) == 0 {
		return Answer, nil
	}
	return Error, data
}

// marked reports whether a text has any word that an error needs under status
// 200. Most first events have none and are not looked at any further.
func marked(b []byte) bool {
	return bytes.Contains(b, []byte(`error`)) || bytes.Contains(b, []byte(`base_resp`)) || bytes.Contains(b, []byte(failed)) ||
		bytes.Contains(b, []byte(`\u`)) // a key may be written with escapes
}

// cutLine cuts the first line, which may end in LF, CR LF or CR.
func cutLine(b []byte) (line, rest []byte, ended bool) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil, false
	}
	n := i + 1
	if b[i] == '\r' && n < len(b) && b[n] == '\n' {
		n++
	}
	return b[:i], b[n:], true
}
