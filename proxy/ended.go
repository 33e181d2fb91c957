package proxy

import (
	"bytes"
	"encoding/json"
)

// The ways in which an answer under 200 ends that an operator should know of:
// the prompt filled the window, or seems to have, or the upstream ended a stream
// that is not complete. All of it is with the client by then, so they are named
// and nothing more: an answer is never generated twice.
const (
	// endedHalfEvent: the stream was ended cleanly in the middle of an event.
	endedHalfEvent = "half_event"
	// endedWithoutDone: the stream was ended cleanly and has no [DONE].
	endedWithoutDone = "without_done"
	// endedAtWindow: the finish reason says so (Anthropic, z.ai).
	endedAtWindow = "context_window"
	// endedBeforeOutput: it ended for its length with no token generated. The
	// prompt was cut to the window and left no room (MiMo).
	endedBeforeOutput = "length_without_output"
	// endedEmpty: a stream that was ended cleanly and holds no delta at all (LM
	// Studio with GGUF models).
	endedEmpty = "without_output"
)

// ended says which of them an answer is, by the end of its text; "": none. whole
// tells that the text is all of it.
func ended(text []byte, u *Usage, stream, whole bool) string {
	switch finish := finishIn(text); {
	case finish == "model_context_window_exceeded":
		return endedAtWindow
	case finish == "length" && u != nil && u.Prompt > 0 && u.Completion == 0:
		return endedBeforeOutput
	case stream && !done(text) && halfEvent(text):
		return endedHalfEvent
	case stream && !done(text):
		return endedWithoutDone
	case stream && whole && finish == "" && !bytes.Contains(text, []byte(`"delta"`)) && !bytes.Contains(text, []byte(`"error"`)):
		return endedEmpty
	}
	return ""
}

// incomplete reports whether ended says that a stream lacks its end.
func incomplete(ended string) bool { return ended == endedHalfEvent || ended == endedWithoutDone }

// halfEvent reports whether more than comments stands behind the last empty line
// of a stream: no client is told of an event before the empty line that ends it.
func halfEvent(text []byte) bool {
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if i := bytes.LastIndex(text, []byte("\n\n")); i >= 0 {
		text = text[i:]
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) > 0 && line[0] != ':' {
			return true
		}
	}
	return false
}

// generated tells whether the end of an answer is one of an answer, and not of an
// error that came behind the first event.
func generated(text []byte) bool {
	for _, failed := range []string{`"error":{`, `"error": {`, `"error":"`, `"error": "`} {
		if bytes.Contains(text, []byte(failed)) {
			return false
		}
	}
	return bytes.Contains(text, []byte(`"choices"`)) || bytes.Contains(text, []byte(`"finish_reason"`))
}

// finishIn is the last finish reason in the end of an answer.
func finishIn(text []byte) string {
	for value := range valuesOf("finish_reason", text) {
		var finish *string
		if json.NewDecoder(bytes.NewReader(value)).Decode(&finish) == nil && finish != nil {
			return *finish
		}
	}
	return ""
}
