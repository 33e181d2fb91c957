package wire

import "laconic/compact"

// chatRequest is a decoded body of the chat API, and where everything is in it.
type chatRequest struct {
	Request

	marks    []messageMark
	parts    []partMark // of all messages, in order
	calls    []callMark // of all messages, in order
	thoughts []span     // the members with bound thinking, key included, of all messages, in order
}

// messageMark is where the pieces of one message are in the body.
type messageMark struct {
	whole    span
	content  span // the value
	toolCall span // the member tool_calls, key included
	legacy   span // the member function_call, key included
	answers  span // the value of tool_call_id
	name     span // the value of name

	firstPart, firstCall, firstThought uint32 // index in chatRequest.parts, calls and thoughts
}

// partMark is where a part is.
type partMark struct {
	whole span
	text  span // the string that holds the part's text, quotes included
}

// callMark is where a call is: an element of tool_calls, or the value of
// function_call.
type callMark struct {
	whole     span
	id        span // the value
	arguments span // the value: a string, or what is in its place
}

// partsOf returns the marks of a message's parts.
func (r *chatRequest) partsOf(i int) []partMark {
	end := uint32(len(r.parts))
	if i+1 < len(r.marks) {
		end = r.marks[i+1].firstPart
	}
	return r.parts[r.marks[i].firstPart:end]
}

// callsOf returns the marks of a message's calls.
func (r *chatRequest) callsOf(i int) []callMark {
	end := uint32(len(r.calls))
	if i+1 < len(r.marks) {
		end = r.marks[i+1].firstCall
	}
	return r.calls[r.marks[i].firstCall:end]
}

// thoughtsOf returns the members that hold a message's bound thinking.
func (r *chatRequest) thoughtsOf(i int) []span {
	end := uint32(len(r.thoughts))
	if i+1 < len(r.marks) {
		end = r.marks[i+1].firstThought
	}
	return r.thoughts[r.marks[i].firstThought:end]
}

// attach hands every message its parts and calls, out of two slices that all
// share. No message can grow into its neighbour's.
func (r *chatRequest) attach(parts []compact.Part, calls []compact.Call) {
	p, c := len(parts), len(calls)
	for i := len(r.marks) - 1; i >= 0; i-- {
		m, k := &r.Conversation.Messages[i], &r.marks[i]
		if from := int(k.firstPart); from < p {
			m.Parts = parts[from:p:p]
			p = from
		}
		if from := int(k.firstCall); from < c {
			m.Calls = calls[from:c:c]
			c = from
		}
	}
}
