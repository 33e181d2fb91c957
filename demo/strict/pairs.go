package strict

import (
	"fmt"
	"slices"
	"strings"
)

// pairs refuses a conversation unless every call is answered directly after its
// message, exactly once, and every result answers such a call. Ids are compared
// within one round only: real servers use the same ids again.
func pairs(messages []Message) *Refusal {
	var open []string               // ids of the round without a result, as they were called
	var answered map[string]int     // id → the message that answered it
	function := ""                  // the legacy call that is open
	unanswered := func() *Refusal { // BerriAI/litellm#10083, aliasrobotics/cai#111
		switch {
		case len(open) > 0:
			return refuse(KindPairs, "messages", "",
				"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
					"The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
		case function != "":
			return refuse(KindPairs, "messages", "",
				"An assistant message with 'function_call' must be followed by a function message. "+
					"The following function did not have a response message: %s", function)
		}
		return nil
	}
	for i, m := range messages {
		id := m.ToolCallID
		at := fmt.Sprintf("messages.[%d].", i)
		switch m.Role {
		case "tool":
			first, twice := answered[id]
			call := slices.Index(open, id)
			switch {
			case len(open)+len(answered) == 0: // microsoft/semantic-kernel#12708, crewAIInc/crewAI#1620
				return refuse(KindPairs, at+"role", "",
					"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			case twice: // agno-agi/agno#5116
				return refuse(KindPairs, at+"tool_call_id", "",
					"Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in messages[%d] and messages[%d].", id, first, i)
			case call < 0:
				return refuse(KindPairs, at+"tool_call_id", "",
					"Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
			}
			answered[id] = i
			open = slices.Delete(open, call, call+1)
		case "function": // has no id: its name is its pair
			if m.Name != function {
				return refuse(KindPairs, at+"role", "",
					"Invalid parameter: messages with role 'function' must be a response to a preceeding message with 'function_call'.")
			}
			function = ""
		default:
			if r := unanswered(); r != nil {
				return r
			}
			open, answered, function = nil, map[string]int{}, ""
			for _, c := range m.Calls {
				open = append(open, c.ID)
			}
			if m.Function != nil {
				function = m.Function.Name
			}
		}
	}
	return unanswered()
}
