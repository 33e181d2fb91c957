package compact

import (
	"fmt"
	"slices"
)

// Exchange is the smallest run of a list that may leave it without breaking a
// pair: an assistant message with its results, or one message alone. It comes
// from Exchanges, ExchangesStrict or NewExchange, and cannot be changed.
type Exchange struct {
	at   int
	msgs []Message
}

// NewExchange makes an exchange of an assistant message and its results, or of
// one message alone. The error is a *PairError where a call is not answered
// exactly once, or a result has no call.
func NewExchange(msgs ...Message) (Exchange, error) {
	all, err := ExchangesStrict(slices.Clone(msgs))
	switch {
	case err != nil:
		return Exchange{}, err
	case len(all) != 1:
		return Exchange{}, fmt.Errorf("compact: %d messages are %d exchanges, not one", len(msgs), len(all))
	}
	return all[0], nil
}

// At is the index of its first message in the list it comes from.
func (e Exchange) At() int { return e.at }

// Messages are its messages, in a list of their own.
func (e Exchange) Messages() []Message { return slices.Clone(e.msgs) }

// Result is the message that answers call n of the exchange's first message,
// the nth result with that id for the nth call with it; nil if there is none.
// It panics if there is no call n.
func (e Exchange) Result(n int) *Message {
	calls := e.msgs[0].Calls
	nth := 0
	for i := range calls[:n] {
		if sameID(&calls[i], &calls[n]) {
			nth++
		}
	}
	for i := 1; i < len(e.msgs); i++ {
		if !matches(&calls[n], &e.msgs[i]) {
			continue
		}
		if nth == 0 {
			m := e.msgs[i]
			return &m
		}
		nth--
	}
	return nil
}

// Join is the list that exchanges make together: the inverse of Exchanges, and
// of what is left of them where some were dropped.
func Join(all ...Exchange) []Message {
	var msgs []Message
	for _, e := range all {
		msgs = append(msgs, e.msgs...)
	}
	return msgs
}

// Exchanges groups a list, whatever it is like; Join puts it together again. Results belong to the assistant message with calls
// directly before their run; where there is none, each is alone. It says
// nothing about ids: see ExchangesStrict.
func Exchanges(msgs []Message) []Exchange {
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

// PairError says which call or result of a list has no partner.
type PairError struct {
	// ID is that of the call, or the one that the result answers; of a legacy
	// function call it is the function's name. "" where the id is missing.
	ID string
	// At is the index of the message with the call, or of the result.
	At int
	// Result: a result has no call; else a call has no result.
	Result bool
	// Twice: the id stands there a second time.
	Twice bool
}

// Error names the id.
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

// ExchangesStrict groups a list and refuses one in which a call is not answered
// exactly once, directly after its message, or a result has no call. The calls
// of a last message that the model is asked to go on with are not answered yet,
// and may not be. The error is a *PairError for the first fault in the list, and
// then there are no exchanges. What it refuses, Repair makes legal.
func ExchangesStrict(msgs []Message) ([]Exchange, error) {
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
	answers := make(map[pairKey]int, len(calls)) // how often each was answered
	for i := range calls {
		key := callKey(&calls[i])
		if _, twice := answers[key]; twice || key.id == "" {
			return &PairError{ID: key.id, At: e.at, Twice: twice}
		}
		answers[key] = 0
	}
	for i := range e.msgs {
		m := &e.msgs[i]
		if !m.Role.Result() {
			continue
		}
		key := resultKey(m)
		n, known := answers[key]
		if !known || n > 0 {
			return &PairError{ID: key.id, At: e.at + i, Result: true, Twice: known}
		}
		answers[key] = 1
	}
	for i := range calls {
		if key := callKey(&calls[i]); answers[key] == 0 {
			return &PairError{ID: key.id, At: e.at}
		}
	}
	return nil
}
