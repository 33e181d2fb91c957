package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/history"
	"laconic/compact/policy"
	"laconic/compact/stage"
)

func historyOf(p *compact.Policy, budget int, msgs ...compact.Message) *history.History {
	h := history.New(history.Options{Policy: p, Budget: compact.Budget{Tokens: budget}})
	h.Append(msgs...)
	return h
}

// compactTo appends messages and compacts the history.
func compactTo(t *testing.T, h *history.History, msgs ...compact.Message) *history.Report {
	t.Helper()
	h.Append(msgs...)
	r, err := h.CompactIfNeeded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func noted(_ context.Context, span []compact.Message) (string, error) {
	return fmt.Sprintf("%d messages were read, and nothing of note stood in them.", len(span)), nil
}

// Four bytes to the token, the last four messages and those before them back to a user
// message; as ailoop does.
func TestHistoryTruncatesWithoutAPolicy(t *testing.T) {
	h := historyOf(nil, 100, compacttest.Messages(t, "system: s\nuser: "+strings.Repeat("a", 100))...)
	if r := compactTo(t, h, compacttest.Messages(t, "assistant: one\nuser: two\nassistant: | call c f {}\ntool c: three\nassistant: four\nuser: five")...); r != nil {
		t.Fatalf("below the budget: %+v", r)
	}
	r := compactTo(t, h, compacttest.Messages(t, "assistant: "+strings.Repeat("b", 320)+"\nuser: six")...)
	if got := compacttest.Format(h.Messages()); r.Strategy != "truncate" || !strings.HasPrefix(got, "system: s\nuser: two\n") || len(h.Messages()) != 8 {
		t.Errorf("%+v\n%s", r, got)
	}
}

func TestExchanges(t *testing.T) {
	for transcript, want := range map[string]string{
		"": "",
		"user: ask\nassistant: calling | call c calc {}\ntool c: 2\nassistant: it is 2":    "0+1 1+2 3+1",
		"system: s\nassistant: | call a f {} | call b f {}\ntool b: y\ntool a: x\nuser: u": "0+1 1+3 4+1",
		"user: u\ntool x: stray\ntool y: stray":                                            "0+1 1+1 2+1: message 1: no call can own this result: call id \"x\"",
		"assistant: a\ntool x: stray":                                                      "0+1 1+1: message 1: no call can own this result: call id \"x\"",
		"user: ask\nassistant: | legacy f {}\nfunction f: 2":                               "0+1 1+2",
		"user: ask\nassistant [open]: going on | call c calc {}":                           "0+1 1+1",
		"assistant [open]: going on | call c calc {}\nuser: ask":                           "0+1 1+1: message 0: call without a result: call id \"c\"",
		"assistant: | call a f {} | call b f {}\ntool a: 1\nuser: u\ntool b: 2":            "0+2 2+1 3+1: message 1: result put directly behind its call: call id \"a\"",
		"assistant: | call a f {} | call a f {}\ntool a: 1\ntool a: 2":                     "0+3: message 0: id used twice in one message: call id \"a\"",
		"assistant: | call a f {}\ntool a: 1\nassistant: | call a f {}\ntool a: 2":         "0+2 2+2",
	} {
		var got []string
		msgs := compacttest.Messages(t, transcript)
		all := history.Exchanges(msgs)
		for _, e := range all {
			got = append(got, fmt.Sprintf("%d+%d", e.At, len(e.Messages)))
		}
		is := strings.Join(got, " ")
		strict, err := history.ExchangesStrict(msgs)
		var pair *history.PairError
		if errors.As(err, &pair) {
			is += strings.Replace(err.Error(), "history", "", 1)
		}
		if is != want || (err == nil) != (len(strict) == len(all)) || compacttest.Format(history.Join(all...)) != compacttest.Format(msgs) {
			t.Errorf("%s: %s, want %s", transcript, is, want)
		}
	}
	e := history.Exchanges(compacttest.Messages(t, "assistant: | call a f {} | call b g {} | call a h {} | call c f {}\ntool b: one\ntool a: two\ntool a: three"))[0]
	got := ""
	for _, p := range e.Pairs() {
		got += p.Call.ID + p.Call.Name + " " + p.Result.Parts[0].Text.String() + ", "
	}
	if got != "af two, bg one, ah three, " {
		t.Errorf("the pairs are %s", got)
	}
}

// Each message that leaves is in the span of one question, and a span whose text fails
// has the digest.
func TestSummarizeAsksForEachSpan(t *testing.T) {
	p, in, b := named("adaptive"), compact.Conversation{}, compact.Budget{Tokens: 3000}
	var slot *compact.Slot
	for n := 1; slot == nil || len(slot.Spans) < 3; n++ {
		in.Messages = compacttest.Steps(t, "user: read all files", n)
		plan, _ := compact.Compact(in, p, compact.BytesPerToken(3.5), b)
		slot = plan.Slot
	}
	for fails := -1; fails < 3; fails++ {
		var begins, asked []int
		msgs, r := history.Summarize(t.Context(), in, p, nil, b, func(_ context.Context, span []compact.Message) (string, error) {
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
		left := slices.DeleteFunc(slices.Clone(in.Messages), func(m compact.Message) bool {
			return slices.ContainsFunc(msgs, func(o compact.Message) bool { return o.Origin == m.Origin })
		})
		if len(begins) != 3 || !slices.EqualFunc(asked, left, func(a int, m compact.Message) bool { return a == m.Origin }) {
			t.Errorf("it was asked for %v, from %v", asked, begins)
		}
		record := msgs[0].Parts[len(msgs[0].Parts)-1].Text.String()
		for i, begin := range begins {
			says := fmt.Sprintf("message %d on", begin)
			if strings.Contains(record, says) == (i == fails) || strings.Contains(r.Summary, says) == (i == fails) {
				t.Errorf("%d fails, and the text of span %d is not as it should be: %s", fails, i, record)
			}
		}
		if summaries := strings.Count(record, "[End of the summary]"); errors.Is(r.SummaryFailed, history.ErrNoSummary) != (fails >= 0) || (summaries == 3) != (fails < 0) {
			t.Errorf("%d fails: %v, %s", fails, r.SummaryFailed, record)
		}
	}
}

// A text that cannot be used is asked for once more, but not once the context is done.
func TestSummarizeAsksTwice(t *testing.T) {
	in := compact.Conversation{Messages: compacttest.Steps(t, "system: s\nuser: read all files", 60)}
	const good = "All files up to now were read. [End of the summary] Nothing was found in /src/file_1.go."
	f := func(wantIn, wantFailed string, wantAsked int, answers ...string) {
		t.Helper()
		asked := 0
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		msgs, r := history.Summarize(ctx, in, named("summary"), nil, compact.Budget{Tokens: 3000}, func(context.Context, []compact.Message) (string, error) {
			switch text := answers[min(asked, len(answers)-1)]; text {
			case "cancel":
				cancel()
				fallthrough
			case "":
				asked++
				return "", errors.New("the model is away")
			default:
				asked++
				return text, nil
			}
		})
		if sent := compacttest.Format(msgs); !strings.Contains(sent, wantIn) || strings.Count(sent, "[End of the") > 1 || len(msgs) >= len(in.Messages) {
			t.Errorf("%q is not in %.600s", wantIn, sent)
		}
		if asked != wantAsked || !strings.HasSuffix(fmt.Sprint(r.SummaryFailed), wantFailed) || (r.SummaryFailed == nil) != (r.Summary != "") {
			t.Errorf("asked %d times, failed: %v, want %q", asked, r.SummaryFailed, wantFailed)
		}
	}
	f("system: Previous conversation summary:\\n(It stands for ", "<nil>", 1, good)
	f("(End of the summary] Nothing was found", "<nil>", 2, "", good)
	f("[Record of ", "no summary: the model is away", 2, "")
	f("[Record of ", "no summary: the summary is too short to be one", 2, " Sorry, I cannot.  ")
	f("[Record of ", "no summary: the model is away", 2, strings.Repeat("much too long ", 500), "")
	f("[Record of ", "no summary: context canceled", 1, "cancel")
}

// A summary is made from the one before it, and takes its place.
func TestHistoryUsesItsSummarizer(t *testing.T) {
	asked, again := 0, 0
	h := history.New(history.Options{
		Policy: named("adaptive"), Budget: compact.Budget{Tokens: 3000},
		Summarize: func(_ context.Context, span []compact.Message) (string, error) {
			asked++
			if strings.Contains(compacttest.Format(span), "files were read up to job") {
				again++
			}
			return fmt.Sprintf("Everything in the files was read up to job %d, files were read up to job %d.", asked, asked), nil
		},
	})
	h.Append(compacttest.Messages(t, "user: read all files")...)
	for i := range 120 {
		compactTo(t, h, compacttest.Step(t, i)...)
	}
	task := h.Messages()[0].Parts
	if asked < 3 || again != asked-1 || len(task) != 2 || !strings.Contains(task[1].Text.String(), fmt.Sprintf("up to job %d,", asked)) {
		t.Errorf("asked %d times, %d of them with the summary before: %+v", asked, again, task)
	}
}

// A record is no old prose that may be elided, and stays behind the task.
func TestHistoryKeepsItsRecordWhereShorteningIsEnough(t *testing.T) {
	p := &compact.Policy{Trigger: 0.9, Land: 0.8, KeepRecent: compact.KeepRecent{Tokens: 60}}
	for _, name := range []string{"elide_prose", "elide_results", "summarize"} {
		s, err := stage.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Ladder = append(p.Ladder, s)
	}
	h := historyOf(p, 3000, compacttest.Messages(t, "user: read all files")...)
	for i := 0; len(h.Messages()[0].Parts) < 2; i++ {
		compactTo(t, h, compacttest.Messages(t, fmt.Sprintf("assistant: | call c%d read {\"path\":\"/src/file_%d.go\"}\ntool c%d: fine", i, i, i))...)
	}
	before := h.Messages()[0]
	h.Append(compacttest.Messages(t, "assistant: | call big read {}\ntool big: "+strings.Repeat("word ", 400))...)
	for range 100 {
		r := compactTo(t, h, compacttest.Messages(t, "assistant: | call c read {}\ntool c: fine")...)
		if r == nil {
			continue
		}
		if after := h.Messages()[0]; len(r.Stages) != 1 || r.Stages[0].Name != "elide_results" || !after.Equal(&before) {
			t.Errorf("%+v: the record became\n%s", r.Stages, after.Parts[len(after.Parts)-1].Text)
		}
		return
	}
	t.Error("nothing was shortened")
}

// A pinned record is a message like any other.
func TestHistoryKeepsThePinOfItsRecord(t *testing.T) {
	h := history.New(history.Options{Policy: named("summary"), Budget: compact.Budget{Tokens: 3000}, Summarize: noted})
	h.Append(compacttest.Messages(t, "user: read all files")...)
	pinned := ""
	for i := range 120 {
		compactTo(t, h, compacttest.Step(t, i)...)
		if first := compacttest.Format(h.Messages()[:1]); pinned == "" && strings.Contains(first, "Previous conversation summary:") {
			h.PinAt(0)
			pinned = first
		}
	}
	sent := compacttest.Format(h.Messages())
	if pinned == "" || !h.Pinned()[0] || !strings.HasPrefix(sent, pinned) || strings.Count(sent, "Previous conversation summary:") != 2 {
		t.Errorf("pinned was %q; the history is\n%s", pinned, sent)
	}
}

// One record leaves for the next, wherever it stands, and the history fits for ever.
func TestHistoryHoldsOneRecord(t *testing.T) {
	for _, start := range []string{"user: task", "system: s\nuser: task", "assistant: hello\nuser: task", "assistant: hello", "system: s"} {
		for _, place := range []compact.Placement{compact.PlaceAuto, compact.PlaceSystem} {
			h := historyOf(&compact.Policy{Ladder: stage.Default(), Placement: place}, 3000, compacttest.Messages(t, start)...)
			reports := 0
			for i := range 100 {
				h.Append(compacttest.Step(t, i)...)
				if i%10 == 5 {
					h.Append(compacttest.Messages(t, "user: go on")...)
				}
				before := h.EstimatedTokens()
				if r := compactTo(t, h); r != nil {
					reports++
					if r.Before != before || r.After != h.EstimatedTokens() || r.After > before || r.MessagesAfter != len(h.Messages()) {
						t.Fatalf("%q, %s: %d → %d tokens, reported %+v", start, place, before, h.EstimatedTokens(), r)
					}
				}
			}
			sent := compacttest.Format(h.Messages())
			if n := strings.Count(sent, "[Record of"); n != 1 || reports < 2 || h.EstimatedTokens() > 3000 {
				t.Errorf("%q, %s: %d records, %d tokens\n%.2000s", start, place, n, h.EstimatedTokens(), sent)
			}
		}
	}
}

// Tools that are at work in the last round are not answered in their place, and what
// is before it is compacted all the same.
func TestHistoryWaitsForResults(t *testing.T) {
	for _, pieces := range [][]string{
		{"user: u\nassistant: | call a f {} | call b f {}", "tool b: two", "tool a: one"},
		{"user: u\nassistant: | call a f {}\ntool a: 1\nassistant: | call a f {}", "tool a: 2", "assistant: | call a f {}", "tool a: 3"},
		{"assistant: | legacy f {}", "function f: the real result"},
	} {
		h := historyOf(named("adaptive"), 3000)
		for _, piece := range pieces {
			if r := compactTo(t, h, compacttest.Messages(t, piece)...); r != nil {
				t.Errorf("%q: behind %q: %+v", pieces, piece, r)
			}
		}
	}
	for _, next := range []string{"user: stop", "assistant: I go on"} { // then they are at work no more
		h := historyOf(named("adaptive"), 3000)
		r := compactTo(t, h, compacttest.Messages(t, "user: u\nassistant: | call a f {}\n"+next)...)
		if r == nil || r.Outcome != compact.Repaired || h.Messages()[2].Parts[0].Text.String() != compact.NoResult {
			t.Errorf("%s: %+v\n%s", next, r, compacttest.Format(h.Messages()))
		}
	}
	for _, n := range policy.Names() {
		h := historyOf(named(n), 2000, compacttest.Messages(t, "system: s\nuser: read all files")...)
		for i := range 20 {
			h.Append(append(compacttest.Step(t, i), compacttest.Messages(t, "user: go on")...)...)
		}
		h.Append(compacttest.Messages(t, "assistant: | call x f {} | call y f {}\ntool y: "+strings.Repeat("word ", 50))...)
		h.PinLast()
		r := compactTo(t, h)
		if sent := compacttest.Format(h.Messages()); r == nil || r.After >= r.Before || r.Fixed != 0 || !strings.Contains(sent, "call x f {} | call y f {}\ntool y: word") || !h.Pinned()[len(h.Messages())-1] {
			t.Errorf("%s: %+v\n%s", n, r, sent)
		}
		compactTo(t, h, compacttest.Messages(t, "tool x: the real result")...)
		if _, err := history.ExchangesStrict(h.Messages()); err != nil || !strings.Contains(compacttest.Format(h.Messages()), "the real result") {
			t.Errorf("%s: %v\n%s", n, err, compacttest.Format(h.Messages()))
		}
	}
}

// Random histories, pins, budgets and policies, with a compaction after every message.
func TestHistoryNeverLosesAPin(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		name := policy.Names()[r.IntN(len(policy.Catalogue))]
		o := history.Options{Policy: named(name), Budget: compact.Limits{Budget: 300 + r.IntN(1500), MaxMessages: 8 + r.IntN(60)}.For(0), Fixed: r.IntN(2) * 50}
		if r.IntN(2) == 0 {
			o.Summarize = noted
		}
		h := history.New(o)
		for i := range 60 {
			for _, m := range randomRound(t, r, i) {
				h.Append(m)
				for _, pin := range []func(int){h.PinAt, h.PinAt, h.UnpinAt} {
					if r.IntN(24) == 0 {
						pin(r.IntN(len(h.Messages())))
					}
				}
				before := pinnedWords(h)
				if _, err := h.CompactIfNeeded(t.Context()); err != nil && !errors.Is(err, history.ErrNotEnough) {
					t.Fatal(err)
				}
				if after := pinnedWords(h); !slices.Equal(before, after) {
					t.Fatalf("seed %d, %s, round %d: pinned were %q, are %q\n%.3000s", seed, name, i, before, after, compacttest.Format(h.Messages()))
				}
			}
		}
		if _, err := history.ExchangesStrict(h.Messages()); err != nil || strings.Contains(compacttest.Format(h.Messages()), compact.NoResult) {
			t.Fatalf("seed %d, %s: %v\n%s", seed, name, err, compacttest.Format(h.Messages()))
		}
	}
}

// pinnedWords returns the pinned messages, without the record that may follow their own
// words.
func pinnedWords(h *history.History) (words []string) {
	for k, pinned := range h.Pinned() {
		if !pinned {
			continue
		}
		m := h.Messages()[k]
		if n := len(m.Parts) - 1; n > 0 && strings.HasPrefix(m.Parts[n].Text.String(), "\n\n[") {
			m.Parts, m.Shape = m.Parts[:n], compact.String
		}
		words = append(words, compacttest.Format([]compact.Message{m}))
	}
	slices.Sort(words)
	return words
}

func randomRound(t *testing.T, r *rand.Rand, i int) []compact.Message {
	t.Helper()
	text := fmt.Sprintf("number %d ", i) + strings.Repeat("word ", r.IntN(60))
	switch n := r.IntN(6); {
	case n < 2:
		return compacttest.Messages(t, []string{"user: ", "assistant: "}[n]+text)
	case n == 2 && (i == 0 || r.IntN(8) == 0):
		return compacttest.Messages(t, "system: "+text[:min(len(text), 40)])
	}
	results := []string{fmt.Sprintf("\ntool a%d: %s", i, text), fmt.Sprintf("\ntool b%d: %s", i, text)}
	if r.IntN(2) == 0 {
		slices.Reverse(results)
	}
	return compacttest.Messages(t, fmt.Sprintf("assistant: | call a%d read {\"path\":\"%d\"} | call b%d read {}", i, i, i)+strings.Join(results, ""))
}
