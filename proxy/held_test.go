package proxy

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/proxy/wire/wiretest"

	"laconic/proxy/learn"
)

// jumping counts otherwise after every answer.
type jumping struct {
	random       *rand.Rand
	way, percent int
}

func (j *jumping) Answered(sizes []int, _, _ int) bool {
	j.way, j.percent = j.random.IntN(len(sizes)), 50+2*j.random.IntN(76)
	return false
}
func (j *jumping) Refused([]int, int, int) {}
func (j *jumping) Count() (int, int, bool) { return j.way, j.percent, j.percent > 0 }

// TestACountThatChangesMovesNoEpoch: by whatever way and factor the upstream turns
// out to count between two requests of real conversations, and whenever it says which
// model it runs, what was sent stays a prefix of what is sent next unless an epoch
// starts, and no fold is undone. A process that does not know the conversation may lose
// one prefix, when it begins, and one is lost where answers show another window.
func TestACountThatChangesMovesNoEpoch(t *testing.T) {
	t.Run("plain", func(t *testing.T) { countsMoveNoEpoch(t, "") })
	t.Run("bound thinking", func(t *testing.T) {
		countsMoveNoEpoch(t, `{"thinking_blocks":[{"type":"thinking","thinking":"so","signature":"SIG"}],"role":"assistant"`)
	})
}

func countsMoveNoEpoch(t *testing.T, answer string) {
	var epochs, changes, lostAtHandover int
	for n, messages := range conversations(t) {
		for i, m := range messages {
			if begin := []byte(`{"role":"assistant"`); answer != "" && bytes.HasPrefix(m, begin) {
				messages[i] = slices.Concat([]byte(answer), m[len(begin):])
			}
		}
		u := counts(t, "whole", func([]byte) int { return 100 })
		random := rand.New(rand.NewPCG(uint64(n), 0))
		runs := false
		behind := func() *running {
			return inFrontOf(t, u, calibrating, func(o *Options) {
				o.Calibrate = func(int, int, int) learn.Calibration { return &jumping{random: random} }
				o.Default.Counter, o.Default.Limits = guessing{runs: &runs}, compact.Limits{Budget: 2000}
				o.Default.Policy = digests
			})
		}
		p := behind()
		var before []json.RawMessage
		epochsBefore, handover, count := 0, len(messages)/2, learn.Count{}
		turn, lost, window := 0, 0, 0
		for k := 1; k <= len(messages); k++ {
			if k < len(messages) && !bytes.Contains(messages[k], []byte(`"role":"assistant"`)) {
				continue
			}
			runs = n%2 == 0 && k > len(messages)/3
			if k >= handover && handover > 0 {
				p, handover, turn = behind(), 0, 0
			}
			body, _ := json.Marshal(map[string]any{"model": "m", "messages": messages[:k]})
			p.chat(string(body))
			turn++
			r := p.replies(turn)[turn-1].Rewrite
			var sent struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(u.newest(), &sent); err != nil {
				t.Fatal(err)
			}
			prefix := len(sent.Messages) >= len(before) && slices.EqualFunc(before, sent.Messages[:len(before)], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
			switch {
			case r.NewEpoch || prefix && r.Report.Epochs >= epochsBefore:
			case turn == 1:
				lostAtHandover++
			case r.Facts.Window.Value+r.Facts.Input.Value != window:
			default:
				lost++
				t.Errorf("conversation %d, %d messages: %d epochs were %d, and what was sent is no prefix", n, k, r.Report.Epochs, epochsBefore)
			}
			if r.Facts.Count.Value != count {
				changes++
			}
			before, epochsBefore, count, window = sent.Messages, r.Report.Epochs, r.Facts.Count.Value, r.Facts.Window.Value+r.Facts.Input.Value
		}
		epochs += epochsBefore
	}
	if epochs < 10 || changes < 50 {
		t.Errorf("%d epochs, and the count changed %d times", epochs, changes)
	}
	t.Logf("%d epochs, %d changes of the count, %d prefixes lost where another process went on", epochs, changes, lostAtHandover)
}

// said counts by what the test says, from the next request on.
type said struct{ percent *int }

func (said) Answered([]int, int, int) bool { return false }
func (said) Refused([]int, int, int)       {}
func (s said) Count() (int, int, bool)     { return 0, *s.percent, *s.percent > 0 }

// digests is a policy that puts a text in the place of what leaves.
var digests = &compact.Policy{Name: "x", Ladder: []compact.Stage{saying("digest"), drop{}}}

// counted is a proxy with a budget of 2,000 words, whose upstream is found to count so
// many percent of them.
func counted(t *testing.T, percent *int) (*running, *upstream) {
	u := counts(t, "whole", func([]byte) int { return 100 })
	return inFrontOf(t, u, calibrating, func(o *Options) {
		o.Calibrate = func(int, int, int) learn.Calibration { return said{percent} }
		o.Default.Limits, o.Default.Policy = compact.Limits{Budget: 2000}, digests
	}), u
}

// TestAGuessIsLeftAtTheNextEpoch: a conversation that was folded before any answer had
// shown the count is folded by the true one where an epoch starts anyway.
func TestAGuessIsLeftAtTheNextEpoch(t *testing.T) {
	percent := 0
	p, _ := counted(t, &percent)
	sent, epochs, anew := 0, 0, 0
	for turn := 1; turn <= 60; turn++ {
		p.chat(agentBody(turn, 100))
		r := p.replies(turn)[turn-1].Rewrite
		if r.Outcome == Compacted {
			percent = 50
		}
		switch n := r.Report.MessagesAfter; {
		case r.NewEpoch && epochs > 0 && r.Report.Epochs <= epochs:
			anew++
		case !r.NewEpoch && sent > 0 && n != sent+2:
			t.Errorf("request %d: %d messages after %d", turn, n, sent)
		}
		sent, epochs = r.Report.MessagesAfter, r.Report.Epochs
	}
	if anew != 1 {
		t.Errorf("it was folded anew %d times", anew)
	}
}

// TestAnswersCorrectTheRoomBehindBoundThinking: once answers have shown that the upstream
// counts half, a conversation with bound thinking has twice the room.
func TestAnswersCorrectTheRoomBehindBoundThinking(t *testing.T) {
	percent := 0
	p, u := counted(t, &percent)
	most := map[int]int{} // words, by the percent that held
	for turn := 1; turn <= 60; turn++ {
		p.chat(signedBody(turn, 100))
		r := p.replies(turn)[turn-1].Rewrite
		if r.Report.After > 2000 {
			t.Errorf("request %d: %d tokens", turn, r.Report.After)
		}
		most[percent] = max(most[percent], wordsIn(u.newest()))
		if turn == 30 {
			percent = 50
		}
	}
	if most[0] > 2010 || most[50] < 3000 || most[50] > 4000 {
		t.Errorf("the longest prompts have so many words: %v", most)
	}
}

// TestWhatFitsIsNotFoldedByAnEarlierCount: the count that a conversation was folded with
// folds neither another one that begins as it does, nor what was sent whole before.
func TestWhatFitsIsNotFoldedByAnEarlierCount(t *testing.T) {
	with := func(tool string, body string) string {
		return strings.Replace(body, `"temperature"`, `"tools":[{"type":"function","function":{"name":"`+tool+`"}}],"temperature"`, 1)
	}
	for name, then := range map[string]struct {
		body   string
		budget int
	}{
		"with other tools":     {with("write", agentBody(16, 100)), 2000},
		"under another budget": {with("read", agentBody(16, 100)), 2100},
		"shorter":              {with("read", agentBody(14, 100)), 2000},
	} {
		percent := 160
		p, _ := counted(t, &percent)
		turn := 0
		ask := func(body string, budget int) *RewriteInfo {
			p.chat(body, headerBudget, strconv.Itoa(budget))
			turn++
			return p.replies(turn)[turn-1].Rewrite
		}
		ask(with("read", agentBody(2, 100)), 2000)
		if r := ask(with("read", agentBody(16, 100)), 2000); r.Outcome != Compacted {
			t.Fatalf("%s: %s by the count that was taught", name, r.Outcome)
		}
		percent = 100
		ask(with("read", agentBody(17, 100)), 2000)
		if r := ask(then.body, then.budget); r.Outcome != Untouched {
			t.Errorf("%s: %s, %d tokens of %d", name, r.Outcome, r.Report.Before, r.Report.Budget)
		}
	}
}

// TestACountHoldsForWhatRepairTakesOut: a list that is counted anew is within its budget,
// or is said to be over, also where repair takes out its end.
func TestACountHoldsForWhatRepairTakesOut(t *testing.T) {
	percent := 100
	p, _ := counted(t, &percent)
	for turn := 1; turn <= 30; turn++ {
		if turn > 20 {
			percent = 300
		}
		body := strings.Replace(agentBody(turn, 100), `],"temperature"`, `,{"role":"tool","tool_call_id":"call_`+strconv.Itoa(turn-1)+`","content":"again"}],"temperature"`, 1)
		p.chat(body)
		r := p.replies(turn)[turn-1].Rewrite
		if r.Report.After > 2000 && r.Outcome != Over {
			t.Errorf("request %d: %s, %d tokens of 2000", turn, r.Outcome, r.Report.After)
		}
	}
}

// conversations are the messages of some recorded conversations.
func conversations(t *testing.T) (all [][]json.RawMessage) {
	for _, name := range wiretest.ConversationFiles(t) {
		n := 0
		for line := range wiretest.Lines(t, name) {
			var c struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			if len(c.Messages) < 20 {
				continue
			}
			for k := range c.Messages {
				var b bytes.Buffer
				_ = json.Compact(&b, c.Messages[k])
				c.Messages[k] = b.Bytes()
			}
			all = append(all, c.Messages[:min(60, len(c.Messages))])
			if n++; n == 2 {
				break
			}
		}
	}
	return all
}
