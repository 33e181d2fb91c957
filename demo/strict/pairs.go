package strict

import "strings"

// round is an assistant message with calls, and what has answered it so far.
type round struct {
	open     map[string]int // id → calls still without a result
	answered map[string]int // id → index of the message that answered it
	order    []string       // ids as they were called
	function string         // the legacy call still open, "" when none
}

// pairs checks that every call is answered directly after its message, exactly once, and that no result
// stands anywhere else. Ids are compared within one round only: real servers hand the same ids out again.
func pairs(messages []Message) *Refusal {
	var cur *round
	for i, m := range messages {
		var r *Refusal
		switch m.Role {
		case "tool":
			r = cur.result(i, m.ToolCallID)
		case "function":
			r = cur.functionResult(i, m.Name)
		default:
			r = cur.end()
			cur = newRound(m)
		}
		if r != nil {
			return r
		}
	}
	return cur.end()
}

func newRound(m Message) *round {
	if m.Calls == nil && m.Function == nil {
		return nil
	}
	c := &round{open: make(map[string]int, len(m.Calls)), answered: make(map[string]int, len(m.Calls))}
	for _, call := range m.Calls {
		c.open[call.ID]++
		c.order = append(c.order, call.ID)
	}
	if m.Function != nil {
		c.function = m.Function.Name
	}
	return c
}

// result takes the tool message at index i.
func (c *round) result(i int, id string) *Refusal {
	if c == nil || len(c.order) == 0 { // microsoft/semantic-kernel#12708, crewAIInc/crewAI#1620; OpenAI's spelling
		return refuse(KindPairs, dotted(i, ".role"), "",
			"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
	}
	if first, twice := c.answered[id]; twice { // agno-agi/agno#5116
		return refuse(KindPairs, dotted(i, ".tool_call_id"), "",
			"Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in %s and %s.", id, at(first, ""), at(i, ""))
	}
	if c.open[id] == 0 {
		return refuse(KindPairs, dotted(i, ".tool_call_id"), "",
			"Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
	}
	c.answered[id] = i
	c.open[id]--
	return nil
}

// functionResult takes the legacy function message at index i. It has no id, so its name is its pair.
// No thread quotes OpenAI's sentence for this one; made by analogy.
func (c *round) functionResult(i int, name string) *Refusal {
	if c == nil || c.function != name {
		return refuse(KindPairs, dotted(i, ".role"), "",
			"Invalid parameter: messages with role 'function' must be a response to a preceeding message with 'function_call'.")
	}
	c.function = ""
	return nil
}

// end refuses a round that is left with open calls.
func (c *round) end() *Refusal {
	if c == nil {
		return nil
	}
	var left []string
	for _, id := range c.order {
		if c.open[id] > 0 {
			left = append(left, id)
			c.open[id]--
		}
	}
	if left != nil { // BerriAI/litellm#10083, aliasrobotics/cai#111
		return refuse(KindPairs, "messages", "",
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
				"The following tool_call_ids did not have response messages: %s", strings.Join(left, ", "))
	}
	if c.function != "" { // by analogy
		return refuse(KindPairs, "messages", "",
			"An assistant message with 'function_call' must be followed by a function message responding to it. "+
				"The following function did not have a response message: %s", c.function)
	}
	return nil
}
