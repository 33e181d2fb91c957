package history

import (
	"fmt"
	"slices"

	"laconic/compact"
)

// An Exchange is the smallest run of a list that may leave it without breaking
// a pair: an assistant message with its results, or one message alone. It comes
// from [Exchanges], [ExchangesStrict] or [NewExchange], and cannot be changed.
type Exchange struct {
	at   int
	msgs []compact.Message
}

// NewExchange returns an exchange of an assistant message and its results, or
// of one message alone. The error is a *PairError if a call is not answered
// exactly once, or a result has no call.
func NewExchange(msgs ...compact.Message) (Exchange, error) {
	all, err := ExchangesStrict(slices.Clone(msgs))
	switch {
	case err != nil:
		return Exchange{}, err
	case len(all) != 1:
		return Exchange{}, fmt.Errorf("history: %d messages are %d exchanges, not one", len(msgs), len(all))
	}
	return all[0], nil
}

// At returns the index of the first message in the list the exchange is from.
func (e Exchange) At() int { return e.at }

// Messages returns a copy of the messages.
func (e Exchange) Messages() []compact.Message { return slices.Clone(e.msgs) }

// A Pair is a call and the result that answers it. Result.Failed says that the tool
// reported an error.
type Pair struct {
	Call   compact.Call
	Result compact.Message
}

// Pairs returns the calls of the first message that are answered, each with its
// result. If several calls share an id, they are answered in order.
func (e Exchange) Pairs() (all []Pair) {
	results := make(map[string][]compact.Message, len(e.msgs))
	for _, m := range e.msgs[1:] {
		if m.Role.Result() && m.Answers != "" {
			results[m.Answers] = append(results[m.Answers], m)
		}
	}
	for _, c := range e.msgs[0].Calls {
		if answers := results[c.ID]; len(answers) > 0 {
			all, results[c.ID] = append(all, Pair{c, answers[0]}), answers[1:]
		}
	}
	return all
}

// Join returns the messages of exchanges as one list. It is the inverse of
// [Exchanges], also for what is left of them after some were dropped.
func Join(all ...Exchange) []compact.Message {
	var msgs []compact.Message
	for _, e := range all {
		msgs = append(msgs, e.msgs...)
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
	// Result is set if a result has no call, and not set if a call has no
	// result.
	Result bool
	// Twice is set if the id occurs a second time.
	Twice bool
}

// Error returns a message with the id.
func (e *PairError) Error() string {
	what := "has no result directly after it"
	switch {
	case e.Result && e.Twice:
		what = "is answered a second time"
	case e.Result:
		what = "is answered, but no message directly before calls it"
	case e.Twice:
		what = "is used by two calls of one message"
	case e.ID == "":
		what = "is missing"
	}
	return fmt.Sprintf("message %d: the call id %q %s", e.At, e.ID, what)
}

// ExchangesStrict groups a list in which every call is answered exactly once,
// directly after its message, and every result has a call. Calls of a last
// message that the model is to continue need no answer. For any other list the
// error is a *PairError for the first fault; compact.Repair makes such a list
// legal.
func ExchangesStrict(msgs []compact.Message) ([]Exchange, error) {
	all := Exchanges(msgs)
	for _, e := range all {
		if e.msgs[0].Open && e.at == len(msgs)-1 {
			continue
		}
		if err := e.strict(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (e Exchange) strict() error {
	calls := e.msgs[0].Calls
	answers := make(map[string]int, len(calls)) // how often each was answered
	for i := range calls {
		id := calls[i].ID
		if _, twice := answers[id]; twice || id == "" {
			return &PairError{ID: id, At: e.at, Twice: twice}
		}
		answers[id] = 0
	}
	for i := range e.msgs {
		m := &e.msgs[i]
		if !m.Role.Result() {
			continue
		}
		n, known := answers[m.Answers]
		if !known || n > 0 {
			return &PairError{ID: m.Answers, At: e.at + i, Result: true, Twice: known}
		}
		answers[m.Answers] = 1
	}
	for i := range calls {
		if id := calls[i].ID; answers[id] == 0 {
			return &PairError{ID: id, At: e.at}
		}
	}
	return nil
}
