package learn

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"laconic/compact"
	"laconic/proxy/overflow"
)

func memory(s Store) *Memory { return New(Options{Store: s, Failed: func(v any) { panic(v) }}) }

func (m *Memory) model() *Model { return m.Model(m.Key("m"), &url.URL{Host: "upstream"}, "m", Key{}) }

// sent is a body that costs so many tokens.
func sent(size int) Sent {
	return Sent{Ways: []string{""}, Sizes: []int{size}, Percent: 100, Bytes: 4 * size, Limits: compact.Limits{Window: 100_000}}
}

func refusal(limit, prompt int) overflow.Refusal {
	return overflow.Refusal{Kind: overflow.Prompt, Limit: limit, Prompt: prompt}
}

// TestALimitAgainstWhatIsKnown: one that contradicts an answer, or what was stated
// before, is tried once, and believed when it is stated again.
func TestALimitAgainstWhatIsKnown(t *testing.T) {
	f := func(name string, known, answered int, r overflow.Refusal, kept, tried, again int) {
		t.Helper()
		m := memory(nil).model()
		m.facts.Window, m.answered, m.sure = believe(known, time.Now(), limitLife), answered, answered
		trial := m.Refused(r, sent(9000))
		if got := m.Facts().Window.Value; got != kept || trial.Facts.Window.Value != tried {
			t.Errorf("%s: kept %d, tried %d", name, got, trial.Facts.Window.Value)
		}
		if m.Accepted(trial); m.Facts().Window.Value != kept {
			t.Errorf("%s: %d once it was accepted", name, m.Facts().Window.Value)
		}
		m.Refused(r, sent(9000))
		if m.Published(compact.Published{Window: 100_000}); m.Facts().Window.Value != again {
			t.Errorf("%s: %d when it was stated again", name, m.Facts().Window.Value)
		}
	}
	f("the first", 0, 0, refusal(8000, 9000), 8000, 8000, 8000)
	f("above what was answered", 0, 7000, refusal(8000, 9000), 8000, 8000, 8000)
	f("below what was answered", 0, 8500, refusal(8000, 9000), 0, 8000, 8000)
	f("below what it stated", 10_000, 0, refusal(8000, 9000), 0, 8000, 8000)
	f("below what it stated, for more", 8500, 0, refusal(8000, 9000), 8000, 8000, 8000)
	f("too small to be meant", 0, 0, refusal(200, 9000), 0, 0, 0)
	f("at the least", 0, 0, refusal(512, 9000), 512, 512, 512)
}

// TestWhatIsBelievedIsCounted: once for each model, and no longer than it is
// believed.
func TestWhatIsBelievedIsCounted(t *testing.T) {
	m, now := memory(nil), time.Now()
	m.model().facts = Facts{Window: believe(8000, now, limitLife), Bytes: believe(1<<20, now, limitLife), Count: believe(Count{Percent: 120}, now, factLife)}
	m.Model(m.Key("n"), &url.URL{Host: "upstream"}, "n", Key{}).facts = Facts{
		Window: believe(4000, now, limitLife), Demands: believe(compact.NoSlot, now, factLife), Input: believe(4000, now, -time.Second),
	}
	m.Model(m.Key("o"), &url.URL{Host: "upstream"}, "o", Key{}).facts.Hard = believe(0, now, limitLife)
	if got := fmt.Sprint(m.Believed()); got != "map[bytes:1 count:1 hard:0 input:0 messages:0 shape:1 together:0 window:2]" {
		t.Error(got)
	}
}

// TestAnAnswerForgetsWhatItContradicts: most streams have no usage, and say less.
func TestAnAnswerForgetsWhatItContradicts(t *testing.T) {
	f := func(size, billed, window, input, bytes int) {
		t.Helper()
		m, now := memory(nil).model(), time.Now()
		m.facts = Facts{Window: believe(600, now, limitLife), Input: believe(500, now, limitLife), Bytes: believe(4100, now, limitLife)}
		m.Answered(sent(size), Bill{Prompt: billed, Completion: 1})
		if f := m.Facts(); f.Window.Value != window || f.Input.Value != input || f.Bytes.Value != bytes {
			t.Errorf("%d tokens, billed as %d: %+v", size, billed, f)
		}
	}
	f(599, 599, 600, 0, 4100)
	f(600, 600, 600, 0, 4100)
	f(601, 601, 0, 0, 4100)
	f(1000, 0, 600, 500, 4100)
	f(1024, 0, 600, 0, 4100)
	f(1026, 0, 600, 0, 0)
	f(1300, 0, 0, 0, 0)
}

// TestAGuessIsKeptOnceItWasAnswered: and no longer than that is tried while it was
// not.
func TestAGuessIsKeptOnceItWasAnswered(t *testing.T) {
	m, numberless := memory(nil).model(), overflow.Refusal{Kind: overflow.Prompt}
	first := m.Refused(numberless, sent(10_000))
	if got := first.Facts.Input.Value; got != 7000 || !m.Facts().Equal(Facts{}) {
		t.Errorf("tried %d, kept %+v", got, m.Facts())
	}
	m.RefusedAgain(first, numberless, sent(7000))
	second := m.Refused(numberless, sent(10_000))
	if got := second.Facts.Input.Value; got != 4900 {
		t.Errorf("tried %d next", got)
	}
	if m.refused != 7000 {
		t.Errorf("the shortest that was refused: %d", m.refused)
	}
	m.Accepted(second)
	m.Answered(sent(4800), Bill{})
	if got := m.Facts().Input.Value; got != 4900 {
		t.Errorf("kept %d", got)
	}
	if m.answered != 4800 {
		t.Errorf("the longest that was answered: %d", m.answered)
	}
	m.Answered(sent(7000), Bill{})
	if m.refused != 0 {
		t.Errorf("%d is refused, though it was answered", m.refused)
	}
}

// TestALimitOfAnswerAndPrompt: where the answer takes more than half the window,
// or was not asked for, the prompt has what is left. The answer is counted where the
// refusal counts it, or where the prompt alone does not explain it.
func TestALimitOfAnswerAndPrompt(t *testing.T) {
	f := func(asked int, r overflow.Refusal, input int, together bool) {
		t.Helper()
		m, s := memory(nil).model(), sent(5000)
		s.Asked, r.Limit, r.Kind = asked, 4000, overflow.Prompt
		m.Refused(r, s)
		if got := m.Facts(); got.Window.Value != 4000 || got.Input.Value != input || got.Together.Value != together {
			t.Errorf("asked for %d, %+v: %+v", asked, r, got)
		}
	}
	f(3000, overflow.Refusal{Prompt: 5000, Output: 3000}, 1000, true)
	f(3000, overflow.Refusal{Total: 8000}, 1000, true)
	f(1000, overflow.Refusal{Prompt: 5000, Output: 1000}, 0, true) // Budget counts it
	f(0, overflow.Refusal{Prompt: 5000, Output: 2500}, 1500, true)
	f(3000, overflow.Refusal{Prompt: 5000}, 0, false) // the answer is not in the sum
	f(3000, overflow.Refusal{}, 0, false)             // nor here, as far as counts go
	f(3000, overflow.Refusal{Prompt: 3900}, 0, true)  // nothing else explains it
	f(3900, overflow.Refusal{Total: 8900}, 0, true)   // no prompt goes with that
	f(0, overflow.Refusal{Prompt: 5000, PromptOnly: true}, 0, false)
	f(3000, overflow.Refusal{Prompt: 3900, PromptOnly: true}, 0, false)
}

// TestARefusalWithoutNumbersOfAShortPrompt: within a window that is stated, only the
// answer that was asked for explains it. That is believed once a second body was
// answered.
func TestARefusalWithoutNumbersOfAShortPrompt(t *testing.T) {
	f := func(size int, stated, together bool) {
		t.Helper()
		m, s := memory(nil).model(), sent(size)
		s.Asked, s.Limits.Window, s.Stated = 3000, 6000, stated
		trial := m.Refused(overflow.Refusal{Kind: overflow.Prompt}, s)
		if trial.Facts.Together.Value != together || m.Facts().Together.Value {
			t.Errorf("%d tokens, stated %v: tried %v, kept %v", size, stated, trial.Facts.Together.Value, m.Facts().Together.Value)
		}
		if m.Accepted(trial); m.Facts().Together.Value != together {
			t.Errorf("%d tokens, stated %v: %v once it was answered", size, stated, m.Facts().Together.Value)
		}
	}
	f(5000, true, true)
	f(5000, false, false)
	f(5900, true, false) // counts are no certainty
	f(7000, true, false)
}

// TestALimitOfBytesIsNoneOnTokens, and is kept where no size was stated only once a
// smaller body was answered.
func TestALimitOfBytesIsNoneOnTokens(t *testing.T) {
	f := func(limit, tried, kept, accepted int) {
		t.Helper()
		m, s := memory(nil).model(), sent(50_000)
		trial := m.Refused(overflow.Refusal{Kind: overflow.Bytes, Limit: limit}, s)
		if got := m.Facts(); trial.Facts.Bytes.Value != tried || got.Bytes.Value != kept || got.Refuses() {
			t.Errorf("%d: tried %d, kept %+v", limit, trial.Facts.Bytes.Value, got)
		}
		if m.Accepted(trial); m.Facts().Bytes.Value != accepted {
			t.Errorf("%d: %+v once a smaller body was answered", limit, m.Facts())
		}
	}
	f(0, 199_999, 0, 199_999)
	f(100_000, 100_000, 100_000, 100_000)
	f(300_000, 199_999, 0, 199_999) // it does not explain the refusal
	f(1000, 199_999, 0, 199_999)    // no server is set up for less
}

// TestSmallBodiesThatAreTooLarge: the second in a row is believed, for a while, once a
// smaller one was answered.
func TestSmallBodiesThatAreTooLarge(t *testing.T) {
	f := func(limit, answered, kept int) {
		t.Helper()
		m, s, r := memory(nil).model(), sent(10_000), overflow.Refusal{Kind: overflow.Bytes, Limit: limit}
		m.Accepted(m.Refused(r, s))
		if got := m.Facts(); !got.Equal(Facts{}) {
			t.Errorf("kept of the first: %+v", got)
		}
		m.Answered(sent(answered), Bill{Prompt: answered, Completion: 1})
		if m.Accepted(m.Refused(r, s)); m.Facts().Bytes.Value != kept || time.Until(m.Facts().Bytes.Until) > unsureLife {
			t.Errorf("%d tokens were answered between: %+v", answered, m.Facts())
		}
	}
	f(0, 9000, 39_999)
	f(0, 10_500, 0)
	f(1000, 9000, 39_999) // no server is set up for that
}

// TestAPromptThatFillsTheWindowWasCut: what an upstream dropped says nothing of the
// counter, and what it read is its window.
func TestAPromptThatFillsTheWindowWasCut(t *testing.T) {
	f := func(name string, window int, b Bill, want int) {
		t.Helper()
		m, s := memory(nil).model(), sent(5200)
		s.Limits = compact.Limits{Window: window, Budget: 50_000}
		if cut, learnt, _ := m.Answered(s, b); cut != (want > 0) || learnt != want || m.Facts().Window.Value != want {
			t.Errorf("%s: cut %v, a window of %d", name, cut, learnt)
		}
		if m.Published(compact.Published{Window: 16_384}); m.Facts().Window.Value != 0 {
			t.Errorf("%s: %d is believed of one that publishes a window", name, m.Facts().Window.Value)
		}
	}
	f("no room for an answer", 0, Bill{Prompt: 4001, NoRoom: true}, 4001)
	f("a round count, no answer, once", 0, Bill{Prompt: 4096}, 0)
	f("a known window", 4021, Bill{Prompt: 4001, Completion: 5}, 4001)
	f("an answer that was cut", 0, Bill{Prompt: 4001, Completion: 100}, 0)
	f("no answer is counted", 0, Bill{Prompt: 5200}, 0)
	f("a round prompt that was refused for what it says", 0, Bill{Prompt: 5120}, 0)
	f("a window that is far", 4500, Bill{Prompt: 4001, Completion: 5}, 0)
}

// deaf is a place for facts whose processes do not hear of each other.
type deaf struct{ board }

func (*deaf) Watch(context.Context, func(Key), func()) {}

func TestProcessesThatRunShareWhatTheyLearn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &deaf{board{kept: map[Key]Facts{}}}
		one, other := memory(s), memory(s)
		other.model().Facts()
		one.model().Refused(refusal(2000, 3000), sent(3000))
		synctest.Wait()
		if f := other.model().Facts(); !f.Equal(Facts{}) {
			t.Errorf("read at every request: %+v", f)
		}
		time.Sleep(2 * storeFresh)
		other.model().Facts()
		synctest.Wait()
		if f := other.model().Facts(); f.Window.Value != 2000 {
			t.Errorf("%+v", f)
		}
		one.Close()
		other.Close()
	})
}

// mute is a place for facts that never answers.
type mute struct {
	deaf
	loads atomic.Int32
}

func (s *mute) Load(ctx context.Context, _ Key) (Facts, bool) {
	s.loads.Add(1)
	<-ctx.Done()
	return Facts{}, false
}

func (s *mute) Save(ctx context.Context, _ Key, _ Facts) bool {
	<-ctx.Done()
	return false
}

// TestFactsThatDoNotComeHoldNobodyUp but the first request of a model, which
// waits for as long as it is said.
func TestFactsThatDoNotComeHoldNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mute)
		memory := memory(s)
		m := memory.model()
		read := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if m.Facts(); time.Since(began) != want {
				t.Errorf("a request waited for %v, want %v", time.Since(began), want)
			}
		}
		read(storeWait)
		read(0)
		time.Sleep(2 * storeFresh)
		read(0)
		m.SetDemands(compact.NoSlot)
		read(0)
		if f := m.Facts(); f.Demands.Value != compact.NoSlot {
			t.Errorf("%+v", f)
		}
		began := time.Now()
		memory.Close()
		if d := time.Since(began); d > 6*storeWait { // what runs, what is due, and what could not be shared
			t.Errorf("the end took %v", d)
		}
		if n, most := s.loads.Load(), int32(2*storeFresh/saveAgain); n < most/2 || n > most+3 {
			t.Errorf("asked %d times, want at most once a second", n)
		}
	})
}

// slow is a place for facts that answers after a while.
type slow struct {
	deaf
	facts Facts
}

func (s *slow) Load(context.Context, Key) (Facts, bool) {
	time.Sleep(storeWait / 2)
	return s.facts, true
}

func (*slow) Save(context.Context, Key, Facts) bool { return true }

// TestOneReaderWaitsForFacts and those behind it do not, nor does what is learnt
// meanwhile, which stays.
func TestOneReaderWaitsForFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		kept := Facts{Window: believe(2000, began, time.Minute), Demands: believe(compact.Original, began, time.Minute)}
		memory := memory(&slow{facts: kept})
		m := memory.model()
		first := make(chan Facts, 1)
		go func() { first <- m.Facts() }()
		synctest.Wait()
		if !m.mu.TryLock() { // a virtual clock would wait for it for ever
			t.Fatal("the first reader holds the lock while it waits")
		}
		m.mu.Unlock()
		if f := m.Facts(); !f.Equal(Facts{}) {
			t.Errorf("known before it came: %+v", f)
		}
		m.SetDemands(compact.NoSlot)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("those behind the first waited for %v", waited)
		}
		if f := <-first; f.Window.Value != 2000 || f.Demands.Value != compact.NoSlot || time.Since(began) != storeWait/2 {
			t.Errorf("%+v after %v", f, time.Since(began))
		}
		memory.Close()
	})
}

// TestAFullCacheOfManyTeachesNothing of a prompt that is within the window that is stated,
// or that a refusal named. Where none is known, the second in a row is believed, for a
// while.
func TestAFullCacheOfManyTeachesNothing(t *testing.T) {
	f := func(stated bool, named, refused, kept int) {
		t.Helper()
		m, s := memory(nil).model(), sent(5000)
		s.Stated, m.facts.Window, m.unsure = stated, believe(named, time.Now(), limitLife), refused
		trial := m.Refused(overflow.Refusal{Kind: overflow.Prompt, Shared: true, PromptOnly: true}, s)
		if got := trial.Facts.Input.Value; got != 3500 {
			t.Errorf("tried %d", got)
		}
		if m.Accepted(trial); m.Facts().Input.Value != kept || time.Until(m.Facts().Input.Until) > unsureLife {
			t.Errorf("stated %v, named %d, refused %d: %+v", stated, named, refused, m.Facts())
		}
	}
	f(true, 0, 4000, 0)
	f(false, 8192, 4000, 0)
	f(false, 0, 0, 0)
	f(false, 0, 4000, 3500)
}

// TestUnknownWords teach nothing, unless they come twice in a row: a busy server may
// have said them, or they are about something else. What they taught is soon forgotten.
func TestUnknownWords(t *testing.T) {
	f := func(stated bool, answered, kept int) {
		t.Helper()
		m, s := memory(nil).model(), sent(6000)
		s.Stated, s.Limits.Window = stated, 32_768
		r := overflow.Refusal{Kind: overflow.Prompt, Unsure: true}
		m.Accepted(m.Refused(r, s))
		if got := m.Facts(); !got.Equal(Facts{}) {
			t.Errorf("kept of the first: %+v", got)
		}
		m.Answered(sent(answered), Bill{Prompt: answered, Completion: 1})
		trial := m.Refused(r, s)
		if m.Accepted(trial); m.Facts().Input.Value != kept || kept > 0 && trial.Facts.Input.Value > answered || time.Until(m.Facts().Input.Until) > unsureLife {
			t.Errorf("stated %v, %d tokens were answered between: tried %d, %+v", stated, answered, trial.Facts.Input.Value, m.Facts())
		}
	}
	for _, stated := range []bool{true, false} {
		f(stated, 3000, 3000)
		f(stated, 5000, 5000)
		f(stated, 6200, 0)
	}
}

// TestAWindowThatIsStatedNeedsNoGuess: a prompt that is within it by our count is tried
// shorter, and what may leave it does so by the window alone from then on.
func TestAWindowThatIsStatedNeedsNoGuess(t *testing.T) {
	for size, kept := range map[int]int{7000: 0, 6000: 4200} {
		m := memory(nil).model()
		trial := m.Refused(refusal(8192, 0), sent(size))
		if m.Accepted(trial); trial.Facts.Input.Value != size*7/10 || m.Facts().Window.Value != 8192 || m.Facts().Input.Value != kept {
			t.Errorf("%d tokens: tried %d, kept %+v", size, trial.Facts.Input.Value, m.Facts())
		}
	}
}

// TestAnEstimateContradictsNoLimit: without usage, an answer says little of the length
// that was accepted.
func TestAnEstimateContradictsNoLimit(t *testing.T) {
	for billed, window := range map[int]int{0: 8192, 9000: 0} {
		m := memory(nil).model()
		m.Answered(sent(9000), Bill{Prompt: billed, Completion: 1})
		if m.Refused(refusal(8192, 0), sent(9500)); m.Facts().Window.Value != window {
			t.Errorf("billed %d: %+v", billed, m.Facts())
		}
	}
}

// TestCountsBelongToAnAgent: what one set of tools taught is not applied to another,
// and nothing corrects a tokenizer that somebody chose. Limits hold for all.
func TestCountsBelongToAnAgent(t *testing.T) {
	memory := New(Options{Calibrate: func(_, _, percent int) Calibration { return &newest{percent: percent} }, Failed: func(v any) { panic(v) }})
	m, one, other := memory.model(), memory.Model(Key{1}, &url.URL{}, "m", Key{}), memory.Model(Key{2}, &url.URL{}, "m", Key{})
	with := func(counts *Model) Facts { // as plans are made
		f := m.Facts()
		f.Count = counts.Facts().Count
		return f
	}
	s := sent(1000)
	s.Agent = one
	m.Refused(refusal(2000, 3000), s)
	m.Answered(s, Bill{Prompt: 1200, Completion: 1})
	if f := with(one); f.Percent() != 120 || f.Window.Value != 2000 {
		t.Errorf("the agent: %+v", f)
	}
	if f := with(other); f.Percent() != 100 || f.Window.Value != 2000 {
		t.Errorf("another agent: %+v", f)
	}
	s.Agent, s.MayCut = other, true
	if m.Answered(s, Bill{Prompt: 700, Completion: 1}); with(other).Count.Value != (Count{}) {
		t.Errorf("a prompt that may have been cut: %+v", with(other))
	}
	s.OwnCounter = true
	m.Answered(s, Bill{Prompt: 1300, Completion: 1})
	if f := with(other); f.Count.Value != (Count{}) {
		t.Errorf("a tokenizer of somebody's choice: %+v", f)
	}
}

// TestTheModelThatRunsIsCountedAnew: once the upstream says which model it runs, no count
// by the ways of its name is believed.
func TestTheModelThatRunsIsCountedAnew(t *testing.T) {
	var ways []int
	m := New(Options{
		Calibrate: func(plain, _, percent int) Calibration { ways = append(ways, plain); return &newest{percent: percent} },
		Failed:    func(v any) { panic(v) },
	}).model()
	s, served := sent(1000), sent(1000)
	s.Ways, s.Way, s.Plain, served.Ways, served.Way = []string{"words", "letters"}, "words", 2, []string{"served"}, "served"
	known := func(want Count) {
		t.Helper()
		if f := m.Facts(); f.Count.Value != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	m.Answered(s, Bill{Prompt: 1300, Completion: 1})
	known(Count{"words", 130})
	m.Refused(overflow.Refusal{Kind: overflow.Bytes}, served)
	known(Count{Way: "served"})
	for range 2 {
		m.Answered(served, Bill{Prompt: 1100, Completion: 1})
		known(Count{"served", 110})
	}
	if !slices.Equal(ways, []int{2, 0}) {
		t.Errorf("it is found out among %v ways", ways)
	}
}

// agreeing is a calibration whose counts turned out as they were.
type agreeing struct{}

func (agreeing) Answered([]int, int, int) bool { return false }
func (agreeing) Refused([]int, int, int)       {}
func (agreeing) Count() (int, int, bool)       { return 0, 100, true }

// TestAnEstimateThatAnswersConfirmIsExact: its trigger is that of exact counts, also
// where there was nothing to correct. Nothing is stored of counts that are the
// model's own.
func TestAnEstimateThatAnswersConfirmIsExact(t *testing.T) {
	o := Options{Calibrate: func(int, int, int) Calibration { return agreeing{} }, Failed: func(v any) { panic(v) }}
	estimate := compact.Estimator{}
	f := func(exact bool, want Count) {
		t.Helper()
		m := New(o).model()
		known := m.Facts()
		if known.Counter(estimate).Exact() {
			t.Error("exact before any answer")
		}
		s := sent(1000)
		s.Exact = exact
		m.Answered(s, Bill{Prompt: 1000, Completion: 1})
		known = m.Facts()
		if known.Count.Value != want || known.Counter(estimate).Exact() == exact {
			t.Errorf("exact %v: %+v, confirmed %v", exact, known.Count, known.Counter(estimate).Exact())
		}
	}
	f(false, Count{Percent: 100})
	f(true, Count{})

	guess := Facts{Count: Fact[Count]{Value: Count{Way: "bytes/4", Percent: 123}}}
	if guess.Counter(estimate).Exact() {
		t.Error("a guess that no answer confirmed is exact")
	}
}

// TestNumbersAloneAreBelievedNearWhatWasSent: any sentence may hold two numbers.
func TestNumbersAloneAreBelievedNearWhatWasSent(t *testing.T) {
	for prompt, doubtful := range map[int]bool{3900: true, 4100: false, 6000: false, 8900: false, 9100: true} {
		r := overflow.Refusal{Kind: overflow.Prompt, Unsure: true, Wordless: true, Prompt: prompt, Limit: 3000}
		if sent(6000).Doubtful(r) != doubtful {
			t.Errorf("6,000 tokens, said to be %d: doubtful %v", prompt, !doubtful)
		}
	}
}

// TestADescriptionIsBounded: models are what clients write.
func TestADescriptionIsBounded(t *testing.T) {
	m := memory(&deaf{board{kept: map[Key]Facts{}}})
	defer m.Close()
	for i := range mostShown + 5 {
		name := fmt.Sprint("m", i)
		m.Model(m.Key(name), &url.URL{Host: "upstream"}, name, Key{}).Published(compact.Published{Window: 2048})
	}
	text := m.Describe()
	if !strings.HasPrefix(text, fmt.Sprintf("learnt: %d\n", mostShown+5)) || strings.Count(text, "\n") != mostShown+1 {
		t.Errorf("%d lines: %.200s", strings.Count(text, "\n"), text)
	}
}
