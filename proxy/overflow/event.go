package overflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
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
func (of *Events) opens(name string, data []byte) bool {
	return len(of.Opening) > 0 && slices.Contains(of.Opening, cmp.Or(name, typeIn(data)))
}

// long reports whether all of an event is waited for, whatever its size.
func (of *Events) long(name string, data []byte) bool {
	return of.opens(name, data) || len(of.Opening) > 0 && cmp.Or(name, typeIn(data)) == failed
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
	generated := of.Generated
	if trimmed := bytes.TrimLeft(start, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if len(trimmed) == len(start) {
			return object(trimmed, whole, len(start), generated)
		}
		if whole {
			return object(trimmed, true, len(start), generated)
		}
		return Answer, nil // blank lines say that somebody is alive (DeepSeek)
	}
	var event string
	judged := 0 // of data, again once it is twice as long
	held := len(start)
	for rest := start; ; {
		line, after, ended := cutLine(rest)
		if !ended && !whole {
			if of.long(event, append(bytes.Clone(data), bytes.TrimPrefix(line, []byte("data:"))...)) {
				return Maybe, nil
			}
			return unended(line, data, held, generated), nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data", "error": // llama.cpp wrote "error: {…}" for a while
			data = append(data, value...)
		case "event":
			event = string(value)
		case "id", "retry":
		case "":
			if len(line) > 0 || data == nil {
				return Answer, nil // a comment, or a blank line: a byte to hand on
			}
			if !of.opens(event, data) {
				return verdict(data)
			}
			event, data, judged, held = "", nil, 0, len(after)
			if rest = after; len(rest) > 0 {
				continue
			}
			if whole {
				return Answer, nil
			}
			return Maybe, nil
		default:
			return Answer, nil
		}
		if data != nil && len(data) >= 2*judged {
			judged = len(data)
			if b, _ := object(data, false, held, generated); b == Answer && !of.long(event, data) {
				return Answer, nil
			}
		}
		if len(after) == 0 && whole {
			if data == nil {
				return Answer, nil
			}
			return verdict(data)
		}
		if len(after) == 0 {
			if of.long(event, data) {
				return Maybe, nil
			}
			return waiting(data, held, generated), nil
		}
		rest = after
	}
}

// unended judges an event whose last line is not complete, of which held bytes
// are there.
func unended(line, data []byte, held int, generated []string) Begins {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		for _, known := range []string{"data", "error", "event", "id", "retry"} {
			if bytes.HasPrefix([]byte(known), name) {
				return waiting(data, held, generated)
			}
		}
		return Answer
	}
	switch string(name) {
	case "data", "error":
		return waiting(append(bytes.Clone(data), bytes.TrimPrefix(value, []byte(" "))...), held, generated)
	case "event", "id", "retry":
		return waiting(data, held, generated)
	}
	return Answer
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
