package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"laconic/compact"
	"laconic/proxy/wire"
)

// within fails when f takes absurdly long: what is linear takes a tenth of a
// second here, what is quadratic minutes.
func within(t *testing.T, f func()) {
	t.Helper()
	start := time.Now()
	if f(); time.Since(start) > 10*time.Second {
		t.Errorf("took %v", time.Since(start))
	}
}

func TestHugeBodiesArePassedOrRead(t *testing.T) {
	f := func(name, body string, want wire.Code) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			within(t, func() {
				r, err := wire.Chat.Decode([]byte(body))
				var got wire.Code
				if pass := (*wire.PassError)(nil); errors.As(err, &pass) {
					got = pass.Reason
				}
				if got != want {
					t.Fatalf("%v, want %q", err, want)
				}
				if err == nil {
					unedited(t, r)
				}
			})
		})
	}
	// 5.6 MB of [ overflow gjson's stack, which no recover catches.
	open, object := strings.Repeat("[", 6<<20), strings.Repeat(`{"":`, 2<<20)
	f("open brackets", open, wire.NotObject)
	f("open brackets beside messages", `{"messages":`+user+`,"x":`+open, wire.TooDeep)
	f("open brackets in arguments", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":`+open, wire.TooDeep)
	f("open objects", object, wire.TooDeep)
	f("brackets that are closed", `{"messages":`+user+`,"x":`+open[:3<<20]+strings.Repeat("]", 3<<20)+`}`, wire.TooDeep)
	f("many shallow brackets", `{"messages":`+user+`,"x":[`+strings.Repeat("[],", 2<<20)+`[]]}`, "")

	f("backslashes", `{"messages":[{"role":"user","content":"`+strings.Repeat(`\\`, 2<<20)+`"}]}`, "")
	f("escapes", `{"messages":[{"role":"user","content":"`+strings.Repeat(`\u00e9`, 1<<20)+`"}]}`, "")
	f("other letters", `{"messages":[{"role":"user","content":"`+strings.Repeat("語", 1<<20)+`"}]}`, "")
	f("a number", `{"messages":`+user+`,"max_tokens":`+strings.Repeat("9", 2<<20)+`}`, "")

	f("100,000 messages", list(100_000, `{"role":"user","content":"hello there"}`), "")
	f("300,000 messages", list(300_000, `{"role":"user"}`), wire.TooMany)
	f("300,000 parts", `{"messages":[{"role":"user","content":[`+strings.Repeat("{},", 300_000)+`{}]}]}`, wire.TooMany)
	f("20,000 calls", `{"messages":[{"role":"assistant","tool_calls":[`+numbered(20_000, aCall)+`]}]}`, "")
	f("300,000 calls", `{"messages":[{"role":"assistant","tool_calls":[`+strings.Repeat("{},", 300_000)+`{}]}]}`, wire.TooMany)
	f("90,000 keys", `{"messages":`+user+`,"x":{`+numbered(90_000, aKey)+`}}`, "")
	f("110,000 keys", `{"messages":`+user+`,"x":{`+numbered(110_000, aKey)+`}}`, wire.TooMany)
	f("a key twice among 90,000", `{"messages":`+user+`,"x":{`+numbered(90_000, aKey)+`,"k77":0}}`, wire.DuplicateKey)
	f("long keys", `{"messages":`+user+`,"x":{"`+strings.Repeat("k", 1<<20)+`a":1,"`+strings.Repeat("k", 1<<20)+`b":2}}`, "")
}

// list is a body of n messages.
func list(n int, message string) string {
	return `{"messages":[` + strings.Repeat(message+",", n-1) + message + `]}`
}

const aKey, aCall = `"k%d":0`, `{"id":"call_%d","type":"function","function":{"name":"f","arguments":"{}"}}`

// numbered is a list of n of a kind, each with its number.
func numbered(n int, kind string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ","+kind, i)
	}
	return b.String()[1:]
}

func TestManyEditsAreLinear(t *testing.T) {
	f := func(name, body string, change func(i int, m *compact.Message)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := decoded(t, wire.Chat, []byte(body))
			msgs := slices.Clone(r.Conversation.Messages)
			for i := range msgs {
				msgs[i].Parts, msgs[i].Calls = slices.Clone(msgs[i].Parts), slices.Clone(msgs[i].Calls)
				msgs[i].Edited = true
				change(i, &msgs[i])
			}
			within(t, func() {
				out, err := r.Encode(msgs)
				if err != nil {
					t.Fatal(err)
				}
				again(t, wire.Chat, out, msgs)
			})
		})
	}
	calls := `{"messages":[{"role":"assistant","content":"x","tool_calls":[` + numbered(20_000, aCall) + `]}]}`
	f("100,000 texts", list(100_000, `{"role":"user","content":"hello there"}`), func(i int, m *compact.Message) {
		m.Parts[0].Text = compact.Plain("")
	})
	f("20,000 ids", calls, func(_ int, m *compact.Message) {
		for i := range m.Calls {
			m.Calls[i].ID = fmt.Sprint(i)
		}
	})
	f("10,000 of 20,000 calls leave", calls, func(_ int, m *compact.Message) {
		for i := range 10_000 {
			m.Calls[i] = m.Calls[2*i+1]
		}
		m.Calls = m.Calls[:10_000]
	})
	f("all but one of 20,000 calls leave", calls, func(_ int, m *compact.Message) { m.Calls = m.Calls[:1] })
	f("all of 20,000 calls leave", calls, func(_ int, m *compact.Message) { m.Calls = nil })
	f("20,000 parts change", `{"messages":[{"role":"user","content":[`+strings.Repeat(`{"type":"text","text":"a"},`, 19_999)+`{"type":"text","text":"a"}]}]}`,
		func(_ int, m *compact.Message) {
			m.Parts = m.Parts[:15_000]
			for i := range m.Parts {
				m.Parts[i].Text = compact.Plain("b")
			}
		})
}

// TestAllocationsDoNotGrowWithMessages: a few lists grow, nothing is allocated
// for a message that was not edited.
func TestAllocationsDoNotGrowWithMessages(t *testing.T) {
	small, large := history(100<<10), history(6<<20)
	count := func(body []byte) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := wire.Chat.Decode(body); err != nil {
				t.Fatal(err)
			}
		})
	}
	if a, b := count(small), count(large); b > a+80 {
		t.Errorf("%v allocations for %d bytes, %v for %d", a, len(small), b, len(large))
	}
	r := decoded(t, wire.Chat, large)
	if n := testing.AllocsPerRun(3, func() { _, _ = r.Encode(r.Conversation.Messages) }); n != 0 {
		t.Errorf("%v allocations to send what was not edited", n)
	}
	folded, edited := elided(r), 0
	for i := range folded {
		if folded[i].Edited {
			edited++
		}
	}
	if n := testing.AllocsPerRun(3, func() { _, _ = r.Encode(folded) }); n > float64(2*edited+80) {
		t.Errorf("%v allocations to send what was folded, with %d messages edited", n, edited)
	}
}

func TestMaxTokens(t *testing.T) {
	f := func(fields string, want int) {
		t.Helper()
		if r := decoded(t, wire.Chat, []byte(`{`+fields+`"messages":`+user+`}`)); r.MaxTokens != want {
			t.Errorf("%s: %d, want %d", fields, r.MaxTokens, want)
		}
	}
	f(``, 0)
	f(`"max_tokens":100,`, 100)
	f(`"max_completion_tokens":100,`, 100)
	f(`"max_tokens":100,"max_completion_tokens":200,`, 200)
	f(`"max_tokens":200,"max_completion_tokens":100,`, 200)
	f(`"max_tokens":200,"max_completion_tokens":null,`, 200)
	f(`"max_tokens":0,`, 0)
	f(`"max_tokens":-1,`, 0)
	f(`"max_tokens":1.5,`, 0)
	f(`"max_tokens":1.0,`, 1)
	f(`"max_tokens":4e3,`, 4000)
	f(`"max_tokens":1e400,`, 0)
	f(`"max_tokens":2147483648,`, 2147483647)
	f(`"max_tokens":"100",`, 0)
}

func TestNoCalls(t *testing.T) {
	f := func(fields string, want bool) {
		t.Helper()
		if r := decoded(t, wire.Chat, []byte(`{"messages":`+user+fields+`}`)); r.NoCalls != want {
			t.Errorf("%s: %v, want %v", fields, r.NoCalls, want)
		}
	}
	f(``, true)
	f(`,"tools":null,"functions":[ ]`, true)
	f(`,"tools":[ ],"tool_choice":"auto"`, true)
	f(`,"tool_choice":"none","tools":[{}]`, true)
	f(`,"functions":[{}],"function_call":"none"`, true)
	f(`,"tools":[{}]`, false)
	f(`,"functions":[{}]`, false)
	f(`,"tools":[{}],"tool_choice":{"type":"function"}`, false)
	f(`,"tools":{}`, false)
}
