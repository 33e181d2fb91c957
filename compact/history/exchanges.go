package history

import (
	"fmt"
	"slices"

	"laconic/compact"
)

// An Exchange is the smallest run of a list that may leave it without breaking
// a pair: an assistant message with its results, or one message alone.
type Exchange struct {
	At       int // index of the first message in the list
	Messages []compact.Message
}

// A Pair is a call and the result that answers it. Result.Failed says that the tool
// reported an error.
type Pair struct {
	Call   compact.Call
	Result compact.Message
}

// Pairs returns the calls of the first message that are answered, each with its
// result. If several calls share an id, they are answered in order.
func (e Exchange) Pairs() (all []Pair) {
	rest := slices.Clone(e.Messages[1:])
	for _, c := range e.Messages[0].Calls {
		i := slices.IndexFunc(rest, func(m compact.Message) bool { return m.Role.Result() && c.ID != "" && m.Answers == c.ID })
		if i >= 0 {
			all, rest = append(all, Pair{c, rest[i]}), slices.Delete(rest, i, i+1)
		}
	}
	return all
}

// Join returns the messages of exchanges as one list. It is the inverse of
// [Exchanges], also for what is left of them after some were dropped.
func Join(all ...Exchange) []compact.Message {
	var msgs []compact.Message
	for _, e := range all {
		msgs = append(msgs, e.Messages...)
	}
	return msgs
}

// Exchanges groups any list. Results belong to the message with calls directly
// before their run; results without such a message are each an exchange of
// their own. Ids are not compared: see [ExchangesStrict].
func Exchanges(msgs []compact.Message) []Exchange {
	var all []Exchange
	for i := 0; i < len(msgs); {
		end := i + 1
		for len(msgs[i].Calls) > 0 && end < len(msgs) && msgs[end].Role.Result() {
			end++
		}
		all = append(all, Exchange{i, msgs[i:end:end]})
		i = end
	}
	return all
}

// A PairError says which call or result of a list has no partner.
type PairError struct {
	// ID is the id of the call, or the one that the result answers; for a
	// legacy function call, the name of the function. It is "" if missing.
	ID string
	// At is the index of the message with the call, or of the result.
	At int
	// Why is the reason in a few words, as Repair states it.
	Why string
}

// Error returns the reason with the id.
func (e *PairError) Error() string {
	return fmt.Sprintf("history: message %d: %s: call id %q", e.At, e.Why, e.ID)
}

// ExchangesStrict groups a list in which every call is answered exactly once,
// directly after its message, and every result has a call. Calls of a last
// message that the model is to continue need no answer. For any other list the
// error is a *PairError for the first thing that [compact.Repair] would change.
func ExchangesStrict(msgs []compact.Message) ([]Exchange, error) {
	numbered := slices.Clone(msgs)
	for i := range numbered {
		numbered[i].Origin = i
	}
	if _, edits := compact.Repair(numbered, compact.RepairAnswer); len(edits) > 0 {
		e := slices.MinFunc(edits, func(a, b compact.Edit) int { return a.Origin - b.Origin })
		if e.Op == compact.OpRename {
			e.ID = msgs[e.Origin].Calls[e.Part].ID
		}
		return nil, &PairError{ID: e.ID, At: e.Origin, Why: e.Why}
	}
	return Exchanges(msgs), nil
}
