package compact_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/compact/promises"
	"laconic/compact/stage"
)

// seeds are the conversations of the golden files.
func seeds(f *testing.F) {
	for _, file := range []string{
		"testdata/repair.txtar", "stage/testdata/trim_results.txtar", "stage/testdata/elide_results.txtar",
		"stage/testdata/elide_prose.txtar", "stage/testdata/drop_oldest.txtar", "stage/testdata/cut_oversize.txtar",
		"stage/testdata/ladder.txtar", "stage/testdata/dedupe.txtar", "stage/testdata/squeeze.txtar",
		"stage/testdata/shrink_arguments.txtar", "stage/testdata/strip_media.txtar", "stage/testdata/summarize.txtar",
		"testdata/slot.txtar",
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(raw).Files {
			if strings.HasSuffix(part.Name, "/before") {
				text := string(part.Data)
				if strings.HasPrefix(text, "budget") {
					_, text, _ = strings.Cut(text, "\n")
				}
				f.Add(text, uint16(20), uint8(1), uint8(7))
				f.Add(text, uint16(9), uint8(0), uint8(90))
				f.Add(text, uint16(0xff00|20), uint8(1), uint8(7))
				f.Add(text, uint16(0xad00|9), uint8(0), uint8(90))
			}
		}
	}
}

// fuzzed is the conversation of a fuzzed transcript: lines that cannot be read
// are left out, so that mutations of single lines keep the rest.
func fuzzed(text string) []compact.Message {
	var msgs []compact.Message
	for _, line := range strings.Split(strings.ToValidUTF8(text, "?"), "\n") {
		if m, err := compacttest.Parse(line); err == nil && len(m) == 1 {
			m[0].Origin = len(msgs)
			msgs = append(msgs, m[0])
		}
	}
	return msgs
}

// bind adds bound thinking to assistant messages: bit n of turns is for the nth
// of every eight.
func bind(msgs []compact.Message, turns uint8) {
	n := 0
	for i := range msgs {
		m := &msgs[i]
		if m.Role != compact.Assistant {
			continue
		}
		if turns>>(n%8)&1 == 1 && !m.Bound() {
			m.Seal, m.Reasoning = m.Seal|compact.SealBound, compact.Plain(strings.Repeat("hm ", n%3))
		}
		n++
	}
}

// FuzzRepair: the repair of any list is legal, and repairing it again changes
// nothing.
func FuzzRepair(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string, budget uint16, mode, _ uint8) {
		in := compact.Conversation{Messages: fuzzed(text)}
		bind(in.Messages, uint8(budget>>8))
		p := &compact.Policy{Repair: compact.RepairAnswer, Demands: compact.Demands(mode>>1) & compact.AllDemands}
		if mode%2 == 1 {
			p.Repair = compact.RepairDrop
		}
		b := compact.Limits{}.For(0)
		plan, r := compact.Compact(in, p, compacttest.Words{}, b)
		for _, err := range promises.Broken(in, p, compacttest.Words{}, b, &plan, r) {
			t.Errorf("%v\n%s→\n%s", err, compacttest.Format(in.Messages), compacttest.Format(plan.Apply("")))
		}
	})
}

// FuzzFold: every promise, on every prefix of any conversation.
func FuzzFold(f *testing.F) {
	seeds(f)
	// Found once: instructions that a later message repeated returned with the
	// gap, at exactly the cost of what left instead.
	f.Add(`system: be brief start
assistant: | call c1 read a.txt
tool c1: one two
system: answer in French
assistant: c2 read b.txt
tool c2: three four
system: answer in French
assistant: | call c3 read c.txt
tool c3: five six
`, uint16(9), uint8(1), uint8(0))
	// Found once: of two results that repair added, one was cut.
	f.Add("assistant: |call  0|call  0\nuser: \nassistant:", uint16(65202), uint8(37), uint8(7))
	// Found once: what must stay shrank between two epochs.
	f.Add(`user: watch it
assistant: | call c1 status
tool c1: one Two three four five six seven
assistant: | call c2 status
assistant: done
`, uint16(18), uint8(1), uint8(7))
	// Found once: a climb that changed nothing replaced the reasons of messages
	// that returned and left again.
	f.Add(`user: start
assistant: | call c1 read a.txt
tool c1: one two three
assistant: what next
user: the whole of a long prompt with all of its twenty words in it is sent a first time by a client
user: the whole of a long prompt with all of its twenty words in it is sent a second time by a client
assistant: | call c2 read b.txt
tool c2: four five six
assistant: | call c3 read `, uint16(7), uint8('T'), uint8('Z'))
	// Found once: two answers that only a removed result had kept apart.
	f.Add(`user: fix it
assistant: | call c1 read a.txt
tool c1: one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
assistant: l c2 read a.txt
tool c2: this file is unchanged since the last read
assistant: done
`, uint16(44297), uint8(0), uint8('Z'))
	f.Fuzz(func(t *testing.T, text string, budget uint16, recent, options uint8) {
		in := compact.Conversation{Messages: fuzzed(text)}
		if len(in.Messages) > 60 || len(text) > 8<<10 {
			return // a sweep is quadratic, and long texts find nothing that short ones do not
		}
		bind(in.Messages, uint8(budget>>8))
		if budget&0x80 > 0 {
			in.Unbind = int(recent) % (len(in.Messages) + 1)
		}
		p := &compact.Policy{Trigger: 1, Land: 0.1 + float64(options%8)/10, Ladder: fuzzLadder(t, options)}
		p.KeepRecent = compact.KeepRecent{Share: 0.01, Exchanges: 1 + int(recent%3)}
		p.Demands = compact.Demands(recent >> 3) // those on the list
		if options%5 == 0 && len(in.Messages) > 0 {
			p.Pins.Messages = []int{int(recent) % len(in.Messages), int(options) % len(in.Messages)}
		}
		if options%3 == 0 {
			p.Trigger, p.KeepRecent.Share = 0, 0.2
		}
		if options%7 == 1 {
			p.Placement = compact.PlaceSystem
		}
		if options%4 == 3 {
			p.Warm = 0.4
		}
		if recent%11 == 3 {
			p.Pins = compact.Pins{Text: []*regexp.Regexp{regexp.MustCompile("one|keep")}, Tools: compact.ToolPatterns("read"), Roles: []string{"user"}}
		}
		if recent%13 > 8 {
			p.KeepRecent = compact.KeepRecent{Messages: int(recent%13) - 8}
		}
		in.Fixed = int(recent>>6) * 3
		b := compact.Limits{Budget: 1 + int(budget%200), MaxMessages: 4 + int(recent)}.For(0)
		if options%10 == 3 {
			b.Hard = 1 + int(budget%100)
		}
		if options%6 == 2 {
			b.Limit = b.Tokens + int(recent%30)
		}
		p.Reject = options%9 == 4
		_, broken := compacttest.Sweep(in, p, compacttest.Words{}, b)
		for _, err := range broken {
			t.Errorf("%v\nbudget %d\n%s", err, b.Tokens, compacttest.Format(in.Messages))
		}
	})
}

// FuzzPolicies: each named policy keeps the promises it claims, on any
// conversation, and the remaining list can be sent.
func FuzzPolicies(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string, budget uint16, keep, options uint8) {
		in := compact.Conversation{Messages: fuzzed(text)}
		n := policy.Catalogue[1+int(options)%(len(policy.Catalogue)-1)]
		small := map[string]string{
			"elide":   fmt.Sprintf(`{"keep": %d, "min_bytes": %d}`, 1+keep%6, options%30),
			"turns":   fmt.Sprintf(`{"chars_per_token": %d}`, 1+keep%8),
			"window":  fmt.Sprintf(`{"keep": %d}`, 1+keep%6),
			"summary": fmt.Sprintf(`{"keep": %d, "start": %d, "max_tokens": 64}`, 1+keep%6, budget%100),
			"layered": fmt.Sprintf(`{"keep": %d, "max_chars": %d, "threshold": 0.5}`, 2+keep%6, 1+options%40),
		}
		p, err := n.New([]byte(small[n.Name]))
		if err != nil {
			t.Fatal(err)
		}
		if options%5 == 0 && len(in.Messages) > 0 {
			p.Pins.Messages = []int{int(keep) % len(in.Messages)}
		}
		b := compact.Limits{Budget: 1 + int(budget%400)}.For(0)
		plan, r := compact.Compact(in, p, compacttest.Words{}, b)
		for _, err := range promises.Broken(in, p, compacttest.Words{}, b, &plan, r) {
			name, _, _ := strings.Cut(err.Error(), ":")
			if !slices.Contains(policy.Catalogue[0].Claims, name) || slices.Contains(n.Claims, name) {
				t.Errorf("%s %s: %v\nbudget %d\n%s→\n%s", n.Name, small[n.Name], err, b.Tokens, compacttest.Format(in.Messages), compacttest.Format(plan.Apply("")))
			}
		}
		if msgs, _ := compact.Repair(in.Messages, compact.RepairAnswer); len(msgs) > 0 && len(plan.Apply("")) == 0 {
			t.Errorf("%s: nothing is left of\n%s", n.Name, compacttest.Format(in.Messages))
		}
	})
}

// fuzzLadder has small thresholds, so that short texts are edited too.
func fuzzLadder(t *testing.T, options uint8) []compact.Stage {
	var ladder []compact.Stage
	for i, e := range stage.Catalogue {
		if options>>(i%8)&1 == 1 && options > 8 {
			continue
		}
		var raw string
		switch e.Name {
		case "trim_results":
			raw = `{"max_chars": 30}`
		case "elide_results", "elide_prose":
			raw = `{"min_bytes": 10}`
		case "dedupe":
			raw = `{"min_tokens": 2}`
		case "shrink_arguments":
			raw = `{"max_chars": 5}`
		case "summarize":
			raw = `{"max_tokens": 64}`
		}
		s, err := e.New([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		ladder = append(ladder, s)
	}
	return ladder
}
