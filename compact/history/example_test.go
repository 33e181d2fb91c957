package history_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/compact/history"
	"laconic/compact/policy"
)

// say returns a message of text, called one with a call, answered its result.
func say(role compact.Role, text string) compact.Message {
	return compact.Message{Role: role, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}}
}

func called(id, tool, arguments string) compact.Message {
	call := compact.Call{ID: id, Name: tool, Arguments: compact.Plain(arguments)}
	return compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{call}}
}

func answered(id, text string) compact.Message {
	m := say(compact.Tool, text)
	m.Answers = id
	return m
}

// named returns a policy of the catalogue.
func named(name string) *compact.Policy {
	p, err := policy.New(name, nil)
	if err != nil {
		panic(err)
	}
	return p
}

// A program that holds its own history: it appends, and compacts before each
// request.
func ExampleHistory() {
	h := history.New(history.Options{
		Policy: named("adaptive"),
		Budget: compact.Limits{Window: 8000, Reserve: 2000}.For(0),
	})
	h.Append(say(compact.System, "You are a careful engineer."), say(compact.User, "Read all the files."))
	compactions := 0
	for i := range 40 {
		id := fmt.Sprint("call_", i)
		h.Append(called(id, "read", `{"path":"a.go"}`), answered(id, strings.Repeat("package a\n", 200)))
		if i == 0 {
			h.PinWithExchange(3) // the first result, and with it its call
		}
		switch report, err := h.CompactIfNeeded(context.Background()); {
		case err != nil:
			fmt.Println(err)
		case report != nil:
			compactions++
		}
	}
	fmt.Println("compacted more than once:", compactions > 1)
	fmt.Println("under the budget:", h.EstimatedTokens() < 6000)
	fmt.Println("pinned:", h.Messages()[2].Calls[0].ID, h.Pinned()[2], h.Messages()[3].Parts[0].Text.Len())
	// Output:
	// compacted more than once: true
	// under the budget: true
	// pinned: call_0 true 2000
}

// A history is kept as its messages and the mask of its pins.
func ExampleRestore() {
	policy := named("window")
	options := history.Options{Policy: policy, Budget: compact.Limits{Budget: 1000}.For(0)}
	h := history.New(options)
	h.Append(say(compact.User, "The door code is 4711."))
	h.PinLast()
	h.Append(say(compact.Assistant, "Noted."))

	again, err := history.Restore(options, h.Messages(), h.Pinned())
	fmt.Println(again.Pinned(), err)

	_, err = history.Restore(options, h.Messages(), nil)
	fmt.Println(err)
	// Output:
	// [true false] <nil>
	// history: 2 messages cannot be restored with 0 pins
}

// The smallest runs that may leave a list, and the list without one of them. A pair
// has the call's name and input, and the error flag of its result.
func ExampleExchanges() {
	failed := answered("call_1", "no such file")
	failed.Failed = true
	all := history.Exchanges([]compact.Message{
		say(compact.User, "Read a.go."),
		called("call_1", "read", `{"path":"a.go"}`),
		failed,
		say(compact.Assistant, "There is none."),
	})
	for _, e := range all {
		fmt.Print(e.At, ": ", e.Messages[0].Role, ", ", len(e.Messages))
		for _, p := range e.Pairs() {
			fmt.Print(", ", p.Call.Name, p.Call.Arguments, " answered ", p.Result.Parts[0].Text, ", failed: ", p.Result.Failed)
		}
		fmt.Println()
	}
	fmt.Println(len(history.Join(all[0], all[2])))
	// Output:
	// 0: user, 1
	// 1: assistant, 2, read{"path":"a.go"} answered no such file, failed: true
	// 3: assistant, 1
	// 2
}

// A list that an upstream would refuse is refused here, with the id at fault.
func ExampleExchangesStrict() {
	_, err := history.ExchangesStrict([]compact.Message{
		say(compact.User, "What is 1+1?"),
		called("call_1", "calculator", `{"expr":"1+1"}`),
		say(compact.User, "Hello?"),
	})
	fmt.Println(err)
	var pair *history.PairError
	if errors.As(err, &pair) {
		fmt.Println(pair.ID, pair.At)
	}
	// Output:
	// history: message 1: call without a result: call id "call_1"
	// call_1 1
}

// One call that compacts a history with a summarizer. Whatever becomes of the
// summary, there is a history to send.
func ExampleSummarize() {
	policy, err := policy.New("summary", []byte(`{"keep": 2}`))
	if err != nil {
		panic(err)
	}
	var msgs []compact.Message
	for i := range 20 {
		msgs = append(msgs, say(compact.User, fmt.Sprint("question ", i, strings.Repeat(" and more", 50))), say(compact.Assistant, "answer"))
	}
	for i := range msgs {
		msgs[i].Origin = i
	}
	in := compact.Conversation{Messages: msgs}
	budget := compact.Limits{Budget: 2000}.For(0)

	msgs, r := history.Summarize(context.Background(), in, policy, nil, budget, func(_ context.Context, span []compact.Message) (string, error) {
		return fmt.Sprintf("The user asked %d questions, and each was answered in one word.", len(span)/2), nil
	})
	fmt.Println(len(msgs), msgs[0].Role, strings.Contains(r.Summary, "asked 19 questions"), r.MessagesCompacted)

	msgs, r = history.Summarize(context.Background(), in, policy, nil, budget, func(context.Context, []compact.Message) (string, error) {
		return "", errors.New("no model is there")
	})
	fmt.Println(len(msgs), msgs[0].Role, r.SummaryFailed)
	// Output:
	// 3 system true 38
	// 3 system history: no summary: no model is there
}

// Who must not go on without a summary gets an error instead of a digest, and tries
// again at the next compaction.
func Example_summaryRequired() {
	policy, err := policy.New("summary", []byte(`{"keep": 2}`))
	if err != nil {
		panic(err)
	}
	h := history.New(history.Options{
		Policy: policy, Budget: compact.Budget{Tokens: 1000}, SummaryRequired: true,
		Summarize: func(context.Context, []compact.Message) (string, error) { return "", errors.New("no model is there") },
	})
	for range 20 {
		h.Append(say(compact.User, strings.Repeat("a question ", 20)), say(compact.Assistant, "an answer"))
	}
	report, err := h.CompactIfNeeded(context.Background())
	failed := history.ErrNoSummary
	fmt.Println(report, errors.Is(err, failed), err, len(h.Messages()))
	// Output: <nil> true history: no summary: no model is there 40
}

// In drop mode a result with another id is nobody's, and the call that stays open
// leaves with it.
func Example_drop() {
	policy := named("summary")
	policy.Repair = compact.RepairDrop
	h := history.New(history.Options{Policy: policy, Budget: compact.Budget{Tokens: 10_000}})
	h.Append(say(compact.User, "Read a.go."), called("call_1", "read", `{"path":"a.go"}`), answered("call_9", "package a"), say(compact.User, "Well?"))
	report, err := h.CompactIfNeeded(context.Background())
	fmt.Println(report.Repairs, report.ResultsDropped, len(h.Messages()), err)
	// Output: 3 1 2 <nil>
}

// A history that is above its budget, and in which nothing may leave.
func ExampleErrNotEnough() {
	h := history.New(history.Options{Budget: compact.Budget{Tokens: 10}})
	h.Append(say(compact.User, strings.Repeat("a question ", 20)))
	_, err := h.CompactIfNeeded(context.Background())
	fmt.Println(errors.Is(err, history.ErrNotEnough))
	// Output: true
}
