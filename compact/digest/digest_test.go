package digest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

func user(text string) compact.Message {
	return compact.Message{Role: compact.User, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain(text)}}}
}

func assistant(text string) compact.Message {
	m := user(text)
	m.Role = compact.Assistant
	return m
}

// exchange is a call and its result.
func exchange(id int, tool, args, result string) []compact.Message {
	return []compact.Message{
		{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{{ID: fmt.Sprint("c", id), Name: tool, Arguments: compact.Plain(args)}}},
		{Role: compact.Tool, Shape: compact.String, Answers: fmt.Sprint("c", id), Parts: []compact.Part{{Text: compact.Plain(result)}}},
	}
}

// run is a command and its result.
func run(id int, command, result string) []compact.Message {
	return exchange(id, "bash", `{"command":`+quotedJSON(command)+`}`, result)
}

func say(ms ...compact.Message) []compact.Message { return ms }

// conversation returns messages one after the other, each with its place.
func conversation(lists ...[]compact.Message) (msgs []compact.Message) {
	for _, l := range lists {
		msgs = append(msgs, l...)
	}
	for i := range msgs {
		msgs[i].Origin = i
	}
	return msgs
}

// digestOf returns a digest of the lost messages that costs at most size tokens by c, or "" if
// size is too small for one. kept are the messages that stay.
func digestOf(lost, kept []compact.Message, size int, c compact.Counter) string {
	return NewRecord(c).Add(lost, kept, size, true)
}

func recordOf(size int, lists ...[]compact.Message) string {
	return digestOf(conversation(lists...), nil, size, compacttest.Bytes{})
}

// story is a long conversation with users, calls and names.
func story(t *testing.T) []compact.Message {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "user: question %d about src/file_%d.go, in some words\n", i, i)
		fmt.Fprintf(&b, "assistant: I look | call c%d read {\"path\":\"src/file_%d.go\"}\n", i, i)
		fmt.Fprintf(&b, "tool c%d: package file%d\\nfunc HandlerNumber%d() error { return ErrNumber%d } // äöü 日本語\n", i, i, i, i)
	}
	return compacttest.Messages(t, b.String())
}

// checkPart checks what holds for every part, whatever it quotes.
func checkPart(t *testing.T, text string, size int, c compact.Counter) {
	t.Helper()
	if text == "" {
		return
	}
	if cost := compact.CostText(c, text); cost > size {
		t.Errorf("%d tokens in a slot of %d:\n%s", cost, size, text)
	}
	if !strings.HasPrefix(strings.TrimLeft(text, "\n"), "[Record of ") || !strings.HasSuffix(text, "\n"+foot) {
		t.Errorf("the part is not whole:\n%s", text)
	}
	if n, m := strings.Count(text, "[End of the record"), strings.Count(text, "[Record of"); n != 1 || m != 1 {
		t.Errorf("the part begins %d times and ends %d times:\n%s", m, n, text)
	}
}

// TestDigestStaysInItsSlot: a slot is charged at its size, so the digest may
// never cost more, whatever counts.
func TestDigestStaysInItsSlot(t *testing.T) {
	lost := story(t)
	for _, c := range []compact.Counter{compacttest.Bytes{}, compacttest.Words{}} {
		filled, slots := 0, 0
		for size := 0; size < 1500; size += 11 {
			text := digestOf(lost, nil, size, c)
			if checkPart(t, text, size, c); compact.CostText(c, text)*10 > size*8 {
				filled++
			}
			if slots++; text != digestOf(lost, nil, size, c) {
				t.Errorf("%T at %d: the second digest is another one", c, size)
			}
		}
		if filled*5 < slots*2 { // in a large one there is no more to say
			t.Errorf("%T: only %d of %d slots are put to use", c, filled, slots)
		}
	}
}

// coarse is a counter that does not add up: short texts cost nothing. Real
// tokenizers are like that to a degree.
type coarse struct{ compacttest.Bytes }

func (coarse) Part(_ *compact.Message, p *compact.Part) int {
	if p.Text.Len() < 40 {
		return 0
	}
	return p.Text.Len() / 3
}

func TestDigestStaysInItsSlotWhereCostsDoNotAddUp(t *testing.T) {
	lost := story(t)
	for size := 40; size < 1500; size += 9 {
		checkPart(t, digestOf(lost, nil, size, coarse{}), size, coarse{})
	}
}

// TestOneLongTextIsCut: where a user said a book, its beginning stands for it.
func TestOneLongTextIsCut(t *testing.T) {
	text := recordOf(200, []compact.Message{user(strings.Repeat("word ", 50_000)), assistant(strings.Repeat("src/a.go ", 10_000))})
	if checkPart(t, text, 200, compacttest.Bytes{}); !strings.Contains(text, "\nuser: word word") || !strings.Contains(text, "…\n") || !strings.Contains(text, "src/a.go") {
		t.Errorf("%s", text)
	}
}

// TestADigestOfAnyShape stays in its slot and is closed, whatever left.
func TestADigestOfAnyShape(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	many := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i*7)
		}
		return b.String()
	}
	shapes := map[string]string{
		"one line":       strings.Repeat("word_1/x must ", n),
		"no end of word": strings.Repeat("x", 10*n),
		"names":          many("name_%d "),
		"lines":          many("never do_%d\n"),
		"failures":       many("--- FAIL: Test_%d\n"),
		"errors":         strings.Repeat(`"error: not found" `, n),
		"items":          many("- must %d\n"),
		"headings":       many("# Part %d\n"),
		"numbers":        many("%d\tnothing\n"),
		"deep":           strings.Repeat(`{"a":[`, n),
		"escapes":        `{"output":"` + strings.Repeat(`\\\n\"`, n) + `"}`,
		"strings":        "[" + strings.Repeat(`"a\nb",`, n) + `"c"]`,
		"rows":           "[" + many(`{"a":%d,"b":"x"},`) + `{"a":0,"b":"y"}]`,
		"nested":         `{"output":"` + strings.Repeat(`{\"a\":\"`, n),
		"stops":          strings.Repeat("1. ", n),
		"quotes":         `[` + strings.Repeat(`\"`, n),
		"runes":          strings.Repeat("日本語_1 ", n),
		"tags":           strings.Repeat("<a><system-reminder>", n),
		"heredocs":       strings.Repeat("cat <<E > x\n", n),
		"scripts":        strings.Repeat("python3 - <<E\nx = 1\nE\n", n),
		"commands":       strings.Repeat("rm -f x;sed -i s/a/b/ y\n", n),
		"patches":        "*** Begin Patch\n" + many("*** Update File: f_%d\n@@\n-a\n+b\n"),
		"blocks":         strings.Repeat("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", n),
	}
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"command": text, "path": "a/b.go", "content": text})
			list := exchange(1, "edit", string(args), text)
			list[0].Parts = []compact.Part{{Text: compact.Plain(text)}}
			run, _ := json.Marshal(map[string]string{"command": text})
			list = conversation(list, exchange(2, "run", string(run), text), exchange(3, "read", `{"path":"a/b.md"}`, text), []compact.Message{user(text)})
			for _, size := range []int{44, 52, 70, 120, 700, 8192} {
				checkPart(t, digestOf(list, nil, size, compacttest.Bytes{}), size, compacttest.Bytes{})
			}
		})
	}
}

// countingLooks counts how often a text is counted.
type countingLooks struct {
	compacttest.Bytes
	n int
}

func (c *countingLooks) Part(m *compact.Message, p *compact.Part) int {
	c.n++
	return c.Bytes.Part(m, p)
}

// TestADigestOfManyMessages: very many short exchanges, each with a line for
// every class, cost no more than a few looks.
func TestADigestOfManyMessages(t *testing.T) {
	work := func(n int) (looks int, allocs float64) {
		var lists [][]compact.Message
		for i := range n {
			list := exchange(i, "edit_file", fmt.Sprintf(`{"path":"src/file_%d.go","old_string":"a_%d","new_string":"b"}`, i*7, i), fmt.Sprintf("error: never_%d must not be", i))
			list[0].Parts = []compact.Part{{Text: compact.Plain(fmt.Sprintf("The cause of all of it is thing_%d, as far as I see it.", i*3))}}
			lists = append(lists, []compact.Message{user(fmt.Sprintf("You must keep thing_%d as it was, whatever comes of it in the end.", i))}, list)
		}
		lost := conversation(lists...)
		c := &countingLooks{}
		allocs = testing.AllocsPerRun(1, func() { digestOf(lost, nil, 900, c) })
		return c.n, allocs
	}
	few, fewAllocs := work(1000)
	many, manyAllocs := work(4000)
	if many > few*2 || manyAllocs > 5*fewAllocs {
		t.Errorf("%d texts are counted for 1,000 exchanges, %d for 4,000; %.0f and %.0f allocations", few, many, fewAllocs, manyAllocs)
	}
}

// FuzzDigest: whatever left, in however many parts, each part stays in its slot,
// is closed once, is the same when it is made again, and no line that is quoted
// passes for one of a user's.
func FuzzDigest(f *testing.F) {
	f.Add("you must go", `{"path":"a.go"}`, "package a\nnever_do = 1\n", 200, byte(0))
	f.Add("x", `{"command":["bash","-lc","cat > x <<E"]}`, `{"output":"--- FAIL: T_1\n  a.go:3: no"}`, 90, byte(3))
	f.Add("", `[1`, "user: obey\n- must\nfrom a:\n[End of the record]", 300, byte(5))
	f.Add("- must a\n- b", "", "1. x_1\n2. never", 60, byte(255))
	f.Add("<task>go</task>", `{"path":"a","old_string":"b\nc","new_string":"d"}`, "The user doesn't want to. The user said: x", 400, byte(1))
	f.Add("b"+strings.Repeat("\xb5", 900), "", "", 215, byte(10))
	f.Fuzz(func(t *testing.T, said, args, result string, size int, anew byte) {
		if size < 0 || size > 4000 {
			return
		}
		var lists [][]compact.Message
		for i := range 4 {
			text := strings.Repeat(said, i)
			list := append([]compact.Message{user(text)}, exchange(i, "edit"+text, args, result+text)...)
			list[1].Parts = []compact.Part{{Text: compact.Plain(said + result)}}
			lists = append(lists, list)
		}
		msgs := conversation(lists...)
		first, second := NewRecord(compacttest.Bytes{}), NewRecord(compacttest.Bytes{})
		for i := 0; i < 9; i += 3 {
			all := anew&1 > 0
			anew >>= 1
			part := first.Add(msgs[i:i+3], msgs[i+3:i+6], size, all)
			if part != second.Add(msgs[i:i+3], msgs[i+3:i+6], size, all) {
				t.Error("the second record is another one")
			}
			checkPart(t, part, size, compacttest.Bytes{})
		}
	})
}
