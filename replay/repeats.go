package replay

import "laconic/compact"

// repeat is a call that an earlier one with the same tool and arguments had
// answered: the indices of the message of the call, and of the newest result of
// an earlier one.
type repeat struct{ call, result int }

// repeatsOf finds the repeated calls of a conversation, in order.
func repeatsOf(msgs []compact.Message) []repeat {
	type made struct{ tool, arguments string }
	var all []repeat
	answered := map[made]int{}
	var open map[string]made // calls that a result may answer, by id; a legacy one by its name
	for i := range msgs {
		m := &msgs[i]
		if m.Role.Result() {
			if call, ok := open[m.Answers]; ok {
				answered[call] = i
			}
			continue
		}
		open = map[string]made{}
		for c := range m.Calls {
			call := made{m.Calls[c].Name, m.Calls[c].Arguments.String()}
			if result, ok := answered[call]; ok {
				all = append(all, repeat{i, result})
			}
			if m.Calls[c].Kind == compact.CallLegacy {
				open[call.tool] = call
			} else {
				open[m.Calls[c].ID] = call
			}
		}
	}
	return all
}

// newestResults returns the indices of the results at the end of a request.
func newestResults(msgs []compact.Message) (results []int) {
	for i := len(msgs) - 1; i >= 0 && msgs[i].Role.Result(); i-- {
		results = append(results, i)
	}
	return results
}
