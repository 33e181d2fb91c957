package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/history"
	"laconic/compact/policy"
	"laconic/compact/stage"
)

// What programs get that hold their own history.

func historyOf(t *testing.T, name string, budget int) *history.History {
	t.Helper()
	p, err := policy.New(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return history.New(history.Options{Policy: p, Budget: compact.Limits{Budget: budget}.For(0)})
}

func panics(f func()) (what any) {
	defer func() { what = recover() }()
	f()
	return nil
}

func TestHistoryPins(t *testing.T) {
	h := historyOf(t, "window", 1000)
	h.PinLast() // nothing to pin
	if h.IsPinned(0) || h.IsPinned(-1) || len(h.Messages()) != 0 {
		t.Error("an empty history has a pin")
	}
	h.Append(compacttest.Messages(t, "system: s")...)
	h.PinLast()
	h.Append(compacttest.Messages(t, "user: u\nassistant: | call a f {} | call b f {}\ntool a: x\ntool b: y\nassistant: z")...)
	f := func(want ...int) {
		t.Helper()
		for i, pinned := range h.Pinned() {
			if pinned != slices.Contains(want, i) || h.IsPinned(i) != pinned {
				t.Errorf("pinned are %v, want %v", h.Pinned(), want)
				return
			}
		}
	}
	f(0)
	h.PinAt(1)
	f(0, 1)
	h.UnpinAt(0)
	f(1)
	h.PinWithExchange(4)
	f(1, 2, 3, 4)
	h.UnpinAt(3)
	f(1, 2, 4)
	h.PinWithExchange(2)
	f(1, 2, 3, 4)
	h.PinWithExchange(5)
	f(1, 2, 3, 4, 5)
	h.Pinned()[0] = true
	f(1, 2, 3, 4, 5)
	for name, pin := range map[string]func(int){"PinAt": h.PinAt, "UnpinAt": h.UnpinAt, "PinWithExchange": h.PinWithExchange} {
		for _, i := range []int{-1, 6} {
			what, _ := panics(func() { pin(i) }).(*history.IndexError)
			if want := fmt.Sprintf("history: %s(%d) of a history of 6 messages", name, i); what == nil || what.Error() != want || what.Index != i {
				t.Errorf("%v, want %s", what, want)
			}
		}
	}
}

// TestHistoryTruncatesWithoutAPolicy: four bytes to the token, the last four
// messages and what stands before them back to a user message; as ailoop does.
func TestHistoryTruncatesWithoutAPolicy(t *testing.T) {
	h := history.New(history.Options{Budget: compact.Budget{Tokens: 100}})
	h.Append(compacttest.Messages(t, "system: s\nuser: "+strings.Repeat("a", 100))...)
	h.Append(compacttest.Messages(t, "assistant: one\nuser: two\nassistant: | call c f {}\ntool c: three\nassistant: four\nuser: five")...)
	if r, err := h.CompactIfNeeded(t.Context()); r != nil || err != nil || h.EstimatedTokens() < 25 || h.EstimatedTokens() > 40 {
		t.Fatalf("below the budget: %d tokens, %+v, %v", h.EstimatedTokens(), r, err)
	}
	h.Append(compacttest.Messages(t, "assistant: "+strings.Repeat("b", 320)+"\nuser: six")...)
	r, err := h.CompactIfNeeded(t.Context())
	if err != nil || r == nil || r.Strategy != "truncate" || r.Outcome != compact.Compacted {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := compacttest.Format(h.Messages()); !strings.HasPrefix(got, "system: s\nuser: two\n") || len(h.Messages()) != 8 {
		t.Errorf("the history is\n%s", got)
	}
}

// TestHistoryTellsOfASummaryThatFailed, and is under its budget all the same.
func TestHistoryTellsOfASummaryThatFailed(t *testing.T) {
	away := errors.New("the model is away")
	for name, want := range map[string]string{"adaptive": "[Record of ", "summary": "[Record of "} {
		p, err := policy.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := history.New(history.Options{
			Policy: p, Budget: compact.Budget{Tokens: 3000},
			Summarize: func(context.Context, []compact.Message) (string, error) { return "", away },
		})
		h.Append(compacttest.Messages(t, "user: read all files")...)
		var r *history.Report
		for i := 0; r == nil && i < 200; i++ {
			h.Append(compacttest.Step(t, i)...)
			if r, err = h.CompactIfNeeded(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var failed *history.SummarizationError
		if r == nil || !errors.As(r.SummaryFailed, &failed) || !errors.Is(r.SummaryFailed, away) || !strings.Contains(compacttest.Format(h.Messages()), want) {
			t.Errorf("%s: %+v\n%.500s", name, r, compacttest.Format(h.Messages()))
		}
	}
}

// TestSummarizedEndsWithItsContext: nobody is asked a second time then.
func TestSummarizedEndsWithItsContext(t *testing.T) {
	p, err := policy.New("summary", nil)
	if err != nil {
		t.Fatal(err)
	}
	in := compact.Conversation{Messages: compacttest.Messages(t, "user: read all files")}
	for i := range 60 {
		in.Messages = append(in.Messages, compacttest.Step(t, i)...)
	}
	for i := range in.Messages {
		in.Messages[i].Origin = i
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	s := history.Summarize(ctx, in, p, nil, compact.Budget{Tokens: 3000}, func(ctx context.Context, _ []compact.Message) (string, error) {
		asked++
		cancel()
		return "", ctx.Err()
	})
	if asked != 1 || !errors.Is(s.Report.SummaryFailed, context.Canceled) || len(s.Messages) == 0 || len(s.Messages) >= len(in.Messages) {
		t.Errorf("asked %d times: %d messages, %+v", asked, len(s.Messages), s.Report)
	}
}

// TestExchangesAreSealed: whoever has one can neither make it an unpaired one,
// nor make an unpaired one.
func TestExchangesAreSealed(t *testing.T) {
	f := func(transcript, want string) {
		t.Helper()
		e, err := history.NewExchange(compacttest.Messages(t, transcript)...)
		if got := fmt.Sprint(err); got != want || err != nil && len(e.Messages()) > 0 {
			t.Errorf("%s: %v, %q, want %q", transcript, e, got, want)
		}
	}
	f("user: u", "<nil>")
	f("assistant: | call a f {}\ntool a: 1", "<nil>")
	f("assistant: | call a f {}", `message 0: the call id "a" has no result directly after it`)
	f("tool a: 1", `message 0: the call id "a" is answered, but no message directly before calls it`)
	f("user: u\nassistant: a", "history: 2 messages are 2 exchanges, not one")
	f("", "history: 0 messages are 0 exchanges, not one")

	e, err := history.NewExchange(compacttest.Messages(t, "assistant: | call a f {}\ntool a: 1")...)
	if err != nil {
		t.Fatal(err)
	}
	e.Messages()[1].Answers, e.Pairs()[0].Result.Answers = "b", "b"
	if _, err := history.ExchangesStrict(history.Join(e, e)); err != nil {
		t.Errorf("it could be changed: %v", err)
	}
}

func TestHistoryIsRestoredFromMessagesAndMask(t *testing.T) {
	h := historyOf(t, "window", 1000)
	h.Append(compacttest.Messages(t, "user: u\nassistant: a\nuser: v")...)
	h.PinAt(1)
	o := history.Options{Policy: &compact.Policy{}, Budget: compact.Limits{Budget: 5}.For(0)}
	again, err := history.Restore(o, h.Messages(), h.Pinned())
	if err != nil || !slices.Equal(again.Pinned(), h.Pinned()) || compacttest.Format(again.Messages()) != compacttest.Format(h.Messages()) {
		t.Errorf("%v %v", again, err)
	}
	if again, err := history.Restore(o, h.Messages(), []bool{true}); again != nil || !errors.As(err, new(*history.LengthError)) || err.Error() != "history: 3 messages cannot be restored with 1 pins" {
		t.Errorf("%v %v", again, err)
	}
}

func TestHistoryStaysUnderItsBudgetForEver(t *testing.T) {
	for _, policy := range []string{"adaptive", "elide", "turns", "summary", "layered"} {
		h := historyOf(t, policy, 3000)
		h.Append(compacttest.Messages(t, "system: be brief\nuser: read all files, the password is hunter2_x")...)
		task := h.Messages()[1].Parts[0].Text.String()
		reports, records := 0, 0
		for i := range 200 {
			h.Append(compacttest.Step(t, i)...)
			if i == 3 {
				h.PinWithExchange(len(h.Messages()) - 1)
			}
			before := h.EstimatedTokens()
			r, err := h.CompactIfNeeded(t.Context())
			if err != nil {
				if policy == "elide" {
					break // it never drops, so in the end nothing can be done
				}
				t.Fatalf("%s: step %d: %v", policy, i, err)
			}
			msgs := h.Messages()
			if r != nil {
				reports++
				if r.Before != before || r.After != h.EstimatedTokens() || r.After > before || r.MessagesAfter != len(msgs) {
					t.Fatalf("%s: step %d: %d → %d tokens, reported %+v", policy, i, before, h.EstimatedTokens(), r)
				}
			}
			if policy != "elide" && policy != "summary" && h.EstimatedTokens() > 3000 {
				t.Fatalf("%s: step %d: %d tokens", policy, i, h.EstimatedTokens())
			}
			if _, err := history.ExchangesStrict(msgs); err != nil {
				t.Fatalf("%s: step %d: %v", policy, i, err)
			}
			pins := 0
			for k := range msgs {
				if msgs[k].Origin != k || msgs[k].Edited {
					t.Fatalf("%s: step %d: message %d is %d, edited %v", policy, i, k, msgs[k].Origin, msgs[k].Edited)
				}
				if h.IsPinned(k) {
					pins++
				}
			}
			if i >= 3 && pins != 2 {
				t.Fatalf("%s: step %d: %d messages are pinned", policy, i, pins)
			}
			if policy == "adaptive" {
				first := msgs[1]
				if first.Parts[0].Text.String() != task || len(first.Parts) > 2 {
					t.Fatalf("step %d: the task has %d parts", i, len(first.Parts))
				}
				records = max(records, len(first.Parts)-1)
			}
		}
		if reports < 2 {
			t.Errorf("%s: compacted %d times", policy, reports)
		}
		if policy == "adaptive" && records != 1 {
			t.Errorf("nothing stands for what left: %d", records)
		}
	}
}

func TestHistoryOnRealConversations(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range compacttest.Conversations(t) {
		if seen[c.File] {
			continue // one of each kind
		}
		seen[c.File] = true
		for _, policy := range []string{"adaptive", "turns", "window", "summary", "layered"} {
			budget := history.Estimate(c.Messages) / 4
			h := historyOf(t, policy, budget)
			pins := map[string]int{} // what is pinned, and how often it was
			for at, k := 0, 0; at < len(c.Messages); at = k {
				for k = at + 1; k < len(c.Messages) && c.Messages[k].Role != compact.Assistant; k++ {
				}
				h.Append(c.Messages[at:k]...)
				if at%40 == 1 {
					h.PinLast()
					pins[asText(h.Messages()[len(h.Messages())-1])]++
				}
				before := h.EstimatedTokens()
				r, err := h.CompactIfNeeded(t.Context())
				if err != nil && !errors.Is(err, history.ErrNotEnough) {
					t.Fatal(err)
				}
				if err != nil && before <= budget || r != nil && r.After > before && r.Repairs == 0 {
					t.Fatalf("%s, %s, %d messages: %d of %d tokens, %+v, %v", policy, c.ID, k, before, budget, r, err)
				}
				if _, err := history.ExchangesStrict(h.Messages()); err != nil && r != nil {
					t.Fatalf("%s, %s, %d messages: %v", policy, c.ID, k, err)
				}
			}
			for i, pinned := range h.Pinned() {
				if pinned {
					pins[asText(h.Messages()[i])]--
				}
			}
			for text, n := range pins {
				if n != 0 {
					t.Errorf("%s, %s: a pin is lost or changed: %.200s", policy, c.ID, text)
				}
			}
		}
	}
}

func asText(m compact.Message) string { return compacttest.Format([]compact.Message{m}) }

func TestExchangesAreTheList(t *testing.T) {
	f := func(transcript string, want string) {
		t.Helper()
		var got []string
		msgs := compacttest.Messages(t, transcript)
		all := history.Exchanges(msgs)
		for _, e := range all {
			got = append(got, fmt.Sprintf("%d+%d", e.At(), len(e.Messages())))
		}
		if strings.Join(got, " ") != want || compacttest.Format(history.Join(all...)) != compacttest.Format(msgs) {
			t.Errorf("%s: %v, want %s", transcript, got, want)
		}
	}
	f("", "")
	f("user: hi\nassistant: hello!", "0+1 1+1")
	f("user: ask\nassistant: calling | call c calc {}\ntool c: 2\nassistant: it is 2", "0+1 1+2 3+1")
	f("system: s\nassistant: | call a f {} | call b f {}\ntool b: y\ntool a: x\nuser: u", "0+1 1+3 4+1")
	f("user: u\ntool x: stray\ntool y: stray", "0+1 1+1 2+1")
	f("assistant: a\ntool x: stray", "0+1 1+1")
}

func TestExchangesStrictNamesTheUnmatchedID(t *testing.T) {
	f := func(transcript, want string) {
		t.Helper()
		all, err := history.ExchangesStrict(compacttest.Messages(t, transcript))
		var pair *history.PairError
		if want == "" && (err != nil || len(all) == 0) || want != "" && (!errors.As(err, &pair) || err.Error() != want || all != nil) {
			t.Errorf("%s: %v, %v, want %q", transcript, all, err, want)
		}
	}
	f("user: ask\nassistant: | call c calc {}\ntool c: 2\nassistant: it is 2", "")
	f("user: ask\nassistant: | legacy f {}\nfunction f: 2", "")
	f("assistant: | call a f {}\ntool a: 1\nassistant: | call a f {}\ntool a: 2", "")
	f("user: ask\nassistant [open]: going on | call c calc {}", "")
	f("assistant [open]: going on | call c calc {}\nuser: ask", `message 0: the call id "c" has no result directly after it`)
	f("user: ask\nassistant: calling\ntool orphan: x", `message 2: the call id "orphan" is answered, but no message directly before calls it`)
	f("user: ask\nassistant: | call dangling calc {}", `message 1: the call id "dangling" has no result directly after it`)
	f("assistant: | call a f {} | call b f {}\ntool a: 1\nuser: u\ntool b: 2", `message 0: the call id "b" has no result directly after it`)
	f("assistant: | call a f {}\ntool a: 1\ntool a: 2", `message 2: the call id "a" is answered a second time`)
	f("assistant: | call a f {} | call a f {}\ntool a: 1\ntool a: 2", `message 0: the call id "a" is used by two calls of one message`)
	f("assistant: | call - f {}\ntool -: 1", `message 0: the call id "" is missing`)
}

func TestExchangeGivesItsPairs(t *testing.T) {
	e := history.Exchanges(compacttest.Messages(t, "assistant: | call a f {} | call b g {} | call a h {} | call c f {}\ntool b: one\ntool a: two\ntool a: three"))[0]
	var got []string
	for _, p := range e.Pairs() {
		got = append(got, p.Call.ID+" "+p.Call.Name+" "+p.Result.Parts[0].Text.String())
	}
	if want := []string{"a f two", "b g one", "a h three"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSummarizedDegradesAndAlwaysGivesAHistory(t *testing.T) {
	in := compact.Conversation{Messages: compacttest.Messages(t, "system: s\nuser: read all files")}
	adaptive, err := policy.New("adaptive", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := compact.Limits{Budget: 3000}.For(0)
	for i := 0; ; i++ { // until one span stands for enough
		in.Messages = append(in.Messages, compacttest.Step(t, i)...)
		for i := range in.Messages {
			in.Messages[i].Origin = i
		}
		plan, _ := compact.Compact(in, adaptive, compact.BytesPerToken(3.5), b)
		if i >= 60 && len(plan.Slot.Spans) == 1 {
			break
		}
	}
	const good = "All files up to now were read. [End of the summary] Nothing was found in /src/file_1.go."
	type answer struct {
		text string
		err  error
	}
	f := func(name, wantIn, wantFailed string, wantAsked int, answers ...answer) {
		t.Helper()
		p, err := policy.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		s := history.Summarize(t.Context(), in, p, nil, b, func(_ context.Context, span []compact.Message) (string, error) {
			asked++
			if len(span) == 0 || span[0].Role != compact.Assistant && span[0].Role != compact.User {
				t.Errorf("%s: the span is %d messages", name, len(span))
			}
			a := answers[min(asked, len(answers))-1]
			return a.text, a.err
		})
		if _, err := history.ExchangesStrict(s.Messages); err != nil || len(s.Messages) == 0 || len(s.Messages) >= len(in.Messages) {
			t.Errorf("%s: %d messages, %v", name, len(s.Messages), err)
		}
		if asked != wantAsked || fmt.Sprint(s.Report.SummaryFailed) != wantFailed || (s.Report.SummaryFailed == nil) != (s.Text != "") {
			t.Errorf("%s: asked %d times, failed: %v", name, asked, s.Report.SummaryFailed)
		}
		if sent := compacttest.Format(s.Messages); !strings.Contains(sent, wantIn) || strings.Count(sent, "[End of the") > 1 {
			t.Errorf("%s: %q does not stand in %.600s", name, wantIn, sent)
		}
	}
	no := errors.New("the model is away")
	f("adaptive", "(End of the summary] Nothing was found", "<nil>", 1, answer{text: good})
	f("adaptive", "(End of the summary] Nothing was found", "<nil>", 2, answer{err: no}, answer{text: good})
	f("adaptive", "[Record of ", "history: no summary: the model is away", 2, answer{err: no})
	f("adaptive", "[Record of ", "history: no summary: the summary is too short to be one", 2, answer{text: " Sorry, I cannot.  "})
	f("summary", "system: Previous conversation summary:\\n(It stands for ", "<nil>", 1, answer{text: good})
	f("summary", "[Record of ", "history: no summary: the model is away", 2, answer{err: no})
	f("adaptive", "[Record of ", "history: no summary: the model is away", 2, answer{text: strings.Repeat("much too long ", 500)}, answer{err: no})
}

// TestSummarizedAsksForEachSpan: each message that leaves is in one of them, and a
// span whose text fails has the digest.
func TestSummarizedAsksForEachSpan(t *testing.T) {
	p, err := policy.New("adaptive", nil)
	if err != nil {
		t.Fatal(err)
	}
	in := compact.Conversation{Messages: compacttest.Messages(t, "user: read all files")}
	b := compact.Limits{Budget: 3000}.For(0)
	var slot *compact.Slot
	for i := 0; slot == nil || len(slot.Spans) < 3; i++ {
		in.Messages = append(in.Messages, compacttest.Step(t, i)...)
		for i := range in.Messages {
			in.Messages[i].Origin = i
		}
		plan, _ := compact.Compact(in, p, compact.BytesPerToken(3.5), b)
		slot = plan.Slot
		if i > 400 {
			t.Fatal("no slot has three spans")
		}
	}
	var from []int
	for i := range slot.Spans {
		from = append(from, slot.Spans[i].From)
	}
	for fails := -1; fails < len(from); fails++ {
		var begins, asked []int
		s := history.Summarize(t.Context(), in, p, nil, b, func(_ context.Context, span []compact.Message) (string, error) {
			if n := len(begins); n == 0 || begins[n-1] != span[0].Origin { // not the second attempt
				begins = append(begins, span[0].Origin)
				for i := range span {
					asked = append(asked, span[i].Origin)
				}
			}
			if len(begins)-1 == fails {
				return "", errors.New("the model is away")
			}
			return fmt.Sprintf("The files from that of message %d on were read.", span[0].Origin), nil
		})
		kept := map[int]bool{}
		for i := range s.Messages {
			kept[s.Messages[i].Origin] = true
		}
		var left []int
		for i := range in.Messages {
			if !kept[i] {
				left = append(left, i)
			}
		}
		if !slices.Equal(begins, from) || !slices.Equal(asked, left) {
			t.Errorf("it was asked for %v, from %v, and %v left", asked, begins, left)
		}
		record := s.Messages[0].Parts[len(s.Messages[0].Parts)-1].Text.String()
		for i, begin := range begins {
			says := fmt.Sprintf("message %d on", begin)
			if strings.Contains(record, says) == (i == fails) || strings.Contains(s.Text, says) == (i == fails) {
				t.Errorf("%d fails, and the text of span %d is not as it should be: %s", fails, i, record)
			}
		}
		if (s.Report.SummaryFailed != nil) != (fails >= 0) || strings.Contains(record, "[Record of") != (fails >= 0) {
			t.Errorf("%d fails: %v, %s", fails, s.Report.SummaryFailed, record)
		}
	}
}

func TestHistoryUsesItsSummarizer(t *testing.T) {
	p, err := policy.New("adaptive", nil)
	if err != nil {
		t.Fatal(err)
	}
	asked, again := 0, 0
	h := history.New(history.Options{
		Policy: p, Budget: compact.Limits{Budget: 3000}.For(0),
		Summarize: func(_ context.Context, span []compact.Message) (string, error) {
			asked++
			if strings.Contains(compacttest.Format(span), "files were read up to job") {
				again++ // the summary before this one is in the span
			}
			return fmt.Sprintf("Everything in the files was read up to job %d, files were read up to job %d.", asked, asked), nil
		},
	})
	h.Append(compacttest.Messages(t, "user: read all files")...)
	for i := range 120 {
		h.Append(compacttest.Step(t, i)...)
		if _, err := h.CompactIfNeeded(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := h.Messages()[0]
	if asked < 3 || again != asked-1 || len(first.Parts) != 2 || !strings.Contains(first.Parts[1].Text.String(), fmt.Sprintf("up to job %d,", asked)) {
		t.Errorf("asked %d times, %d of them with the summary before; the task has %d parts: %s", asked, again, len(first.Parts), first.Parts[len(first.Parts)-1].Text)
	}
}

// TestHistoryKeepsItsRecordWhereShorteningIsEnough: what stands for earlier
// messages is no old prose that may be elided, and stays behind the task.
func TestHistoryKeepsItsRecordWhereShorteningIsEnough(t *testing.T) {
	p := &compact.Policy{Trigger: 0.9, Land: 0.8, KeepRecent: compact.KeepRecent{Tokens: 60}}
	for _, name := range []string{"elide_prose", "elide_results", "summarize"} {
		s, err := stage.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Ladder = append(p.Ladder, s)
	}
	h := history.New(history.Options{Policy: p, Budget: compact.Limits{Budget: 3000}.For(0)})
	h.Append(compacttest.Messages(t, "user: read all files")...)
	recordOf := func() string {
		if m := h.Messages()[0]; len(m.Parts) == 2 {
			return m.Parts[1].Text.String()
		}
		return ""
	}
	for i := 0; recordOf() == ""; i++ {
		if i > 200 {
			t.Fatal("no record was made")
		}
		h.Append(compacttest.Messages(t, fmt.Sprintf("assistant: | call c%d read {\"path\":\"/src/file_%d.go\"}\ntool c%d: fine", i, i, i))...)
		if _, err := h.CompactIfNeeded(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := recordOf()
	h.Append(compacttest.Messages(t, "assistant: | call big read {}\ntool big: "+strings.Repeat("word ", 400))...)
	for range 100 {
		h.Append(compacttest.Messages(t, "assistant: | call c read {}\ntool c: fine")...)
		r, err := h.CompactIfNeeded(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			continue
		}
		if len(r.Stages) != 1 || r.Stages[0].Name != "elide_results" {
			t.Fatalf("not by shortening: %+v", r.Stages)
		}
		if after := recordOf(); after != before || len(after) < 300 || h.Messages()[1].Role != compact.Assistant || h.Messages()[1].Seal != 0 {
			t.Errorf("the record of %d bytes became\n%s", len(before), after)
		}
		return
	}
	t.Error("nothing was shortened")
}
