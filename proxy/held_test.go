package proxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"

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
func (j *jumping) Measured() bool          { return j.percent > 0 }
func (j *jumping) Way() int                { return j.way }
func (j *jumping) Percent() int            { return j.percent }

// TestACountThatChangesMovesNoEpoch: by whatever way and factor the upstream turns
// out to count between two requests of real conversations, what was sent stays a
// prefix of what is sent next unless an epoch starts, and no fold is undone. A
// process that does not know the conversation may lose one prefix, when it begins.
func TestACountThatChangesMovesNoEpoch(t *testing.T) {
	var epochs, changes, lostAtHandover int
	for n, messages := range conversations(t) {
		u := counts(t, "whole", func([]byte) int { return 100 })
		random := rand.New(rand.NewPCG(uint64(n), 0))
		behind := func() *running {
			return inFrontOf(t, u, calibrating, func(o *Options) {
				o.Calibrate = func(int, int, int) learn.Calibration { return &jumping{random: random} }
				o.Default.Counter, o.Default.Limits = guessing{}, compact.Limits{Budget: 2000}
				o.Default.Policy = &compact.Policy{Name: "x", Ladder: []compact.Stage{telling{}, drop{}}}
			})
		}
		p := behind()
		var before []json.RawMessage
		epochsBefore, handover, count := 0, len(messages)/2, learn.Count{}
		turn, lost := 0, 0
		for k := 1; k <= len(messages); k++ {
			if k < len(messages) && !bytes.Contains(messages[k], []byte(`"role":"assistant"`)) {
				continue
			}
			if k >= handover && handover > 0 {
				p, handover, turn = behind(), 0, 0
			}
			body, _ := json.Marshal(map[string]any{"model": "m", "messages": messages[:k]})
			p.chat(string(body))
			turn++
			r := p.replies(turn)[turn-1].Rewrite
			all := u.requests()
			var sent struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(all[len(all)-1].Body, &sent); err != nil {
				t.Fatal(err)
			}
			prefix := len(sent.Messages) >= len(before) && slices.EqualFunc(before, sent.Messages[:len(before)], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
			switch {
			case r.NewEpoch || prefix && r.Report.Epochs >= epochsBefore:
			case turn == 1:
				lostAtHandover++
			default:
				lost++
				t.Errorf("conversation %d, %d messages: %d epochs were %d, and what was sent is no prefix", n, k, r.Report.Epochs, epochsBefore)
			}
			if r.Facts.Count.Value != count {
				changes++
			}
			before, epochsBefore, count = sent.Messages, r.Report.Epochs, r.Facts.Count.Value
		}
		epochs += epochsBefore
	}
	if epochs < 10 || changes < 50 {
		t.Errorf("%d epochs, and the count changed %d times", epochs, changes)
	}
	t.Logf("%d epochs, %d changes of the count, %d prefixes lost where another process went on", epochs, changes, lostAtHandover)
}

// conversations are the messages of some recorded conversations.
func conversations(t *testing.T) (all [][]json.RawMessage) {
	for _, name := range compacttest.ConversationFiles(t) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for i := 0; i < 2 && lines.Scan(); {
			var c struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			if len(c.Messages) >= 20 {
				for k := range c.Messages {
					var b bytes.Buffer
					_ = json.Compact(&b, c.Messages[k])
					c.Messages[k] = b.Bytes()
				}
				all = append(all, c.Messages[:min(60, len(c.Messages))])
				i++
			}
		}
		_ = f.Close()
	}
	return all
}
