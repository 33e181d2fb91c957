package replay

import (
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestLastOccurrence: twelve characters on both sides, whole characters, and
// no further than the text.
func TestLastOccurrence(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		m := compact.Message{Role: compact.User, Parts: []compact.Part{{Text: compact.Plain(text)}}}
		if got := lastOccurrence(&m, reading(&m), "code_4711"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f("code_4711", "code_4711")
	f("a code_4711 b", "a code_4711 b")
	f("0123456789ABCDEcode_47110123456789ABCDE", "3456789ABCDEcode_47110123456789AB")
	f("ääääääääääääääcode_4711ööööööööööööööö", "ääääääääääääcode_4711öööööööööööö")
	f("first code_4711, and a long way further on code_4711 last", "further on code_4711 last")
	f(`{"path":"/a/code_4711","lines":[1,2]}`, "/a/code_4711")    // as a model reads JSON
	f("one line\n     12→\tb code_4711 c\nnext", "b code_4711 c") // not the next line, nor its number
}

// TestShared: what a prompt cache serves of the second request.
func TestShared(t *testing.T) {
	f := func(before, now string, messages, tokens int) {
		t.Helper()
		of := func(transcript string) *step {
			s := &step{sent: compacttest.Messages(t, transcript), in: compact.Conversation{Fixed: 100}}
			for i := range s.sent {
				s.costs = append(s.costs, compact.Cost(compacttest.Words{}, &s.sent[i]))
			}
			return s
		}
		m, n := shared(of(before), of(now))
		if m != messages || n != 100+tokens {
			t.Errorf("%d messages and %d tokens, want %d and %d", m, n-100, messages, tokens)
		}
	}
	f("user: a b c", "user: a b c\nassistant: d\nuser: e f", 1, 3)
	f("user: a b c\nassistant: d", "user: a b c", 1, 3)
	// "a b " of "a b x y" is alike: 4 of 7 bytes, so 2 of 4 tokens
	f("user: a b c d", "user: a b x y", 0, 2)
	f("user: a b c d", "assistant: a b c d", 0, 0)
	// behind the first difference nothing counts
	f("user: a\nassistant: b\nuser: c c c", "user: x\nassistant: b\nuser: c c c", 0, 0)
	if m, n := shared(&step{}, &step{in: compact.Conversation{Fixed: 100}}); m != 0 || n != 0 {
		t.Errorf("the first request: %d messages, %d tokens", m, n)
	}
}

// TestHardFacts: a fact is hard if the last message that has it is not whole,
// though an earlier one is; and a call that misses one of its facts is not whole.
func TestHardFacts(t *testing.T) {
	msgs := compacttest.Messages(t, "user: run main_test.go\nassistant: ok | call c1 run x\ntool c1: failed in main_test.go because of code_4711\n"+
		"assistant: so | call c2 read main_test.go code_4711 | call c3 read main_test.go\ntool c2: x\ntool c3: x")
	f := func(result string, want Kept) {
		t.Helper()
		sent := compacttest.Messages(t, "user: run main_test.go\nassistant: ok | call c1 run x\ntool c1: "+result)
		if got := retained(factsOf(msgs, readings(msgs)), sent, []bool{true, true, false}); got != want {
			t.Errorf("%q: %+v, want %+v", result, got, want)
		}
	}
	f("gone", Kept{Facts: 3, Recalled: 2, Hard: 3, HardRecalled: 2, Calls: 2, CallsWhole: 1})
	f("failed in main_test.go because of code_4711", Kept{
		Facts: 3, Recalled: 3, Verbatim: 3, Hard: 3, HardRecalled: 3, HardVerbatim: 3, Calls: 2, CallsWhole: 2,
	})
}
