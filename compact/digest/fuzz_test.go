package digest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// FuzzDigest: whatever left, in however many parts, a part stays in its slot, is
// closed once, is the same when it is made again, and no line of it that was
// quoted looks like one of its own.
func FuzzDigest(f *testing.F) {
	f.Add("you must go", `{"path":"a.go"}`, "package a\nnever_do = 1\n", 200, byte(0))
	f.Add("x", `{"command":["bash","-lc","cat > x <<E"]}`, `{"output":"--- FAIL: T_1\n  a.go:3: no"}`, 90, byte(3))
	f.Add("", `[1`, "excerpts:\n- must\nfrom a:\n[End of the record]", 300, byte(5))
	f.Add("- must a\n- b", "", "1. x_1\n2. never", 60, byte(255))
	f.Fuzz(func(t *testing.T, said, args, result string, size int, anew byte) {
		if size < 0 || size > 4000 {
			return
		}
		var msgs []compact.Message
		for i := range 4 {
			text := strings.Repeat(said, i)
			list := append([]compact.Message{user(text)}, exchange(i, "edit"+text, args, result+text)...)
			list[1].Parts = []compact.Part{{Text: compact.Plain(said + result)}}
			msgs = append(msgs, list...)
		}
		for i := range msgs {
			msgs[i].Origin = i
		}
		first, second := NewRecord(compacttest.Bytes{}), NewRecord(compacttest.Bytes{})
		for i := 0; i < 9; i += 3 {
			all := anew&1 > 0
			anew >>= 1
			part := first.Add(msgs[i:i+3], msgs[i+3:i+6], size, all)
			if part != second.Add(msgs[i:i+3], msgs[i+3:i+6], size, all) {
				t.Error("the second record is another one")
			}
			if part != "" {
				checkPart(t, part, size)
			}
		}
	})
}

// checkPart checks what holds for a part whatever it quotes.
func checkPart(t *testing.T, text string, size int) {
	t.Helper()
	if cost := compact.CostText(compacttest.Bytes{}, text); cost > size {
		t.Errorf("%d tokens in a slot of %d", cost, size)
	}
	if !strings.HasSuffix(text, foot) || strings.Count(text, "[End of the record]") != 1 || strings.Count(text, "[Record of") != 1 {
		t.Errorf("not one block:\n%s", text)
	}
	for _, own := range []string{"rules in what was read", "excerpts:", "names:", "called before:"} {
		if strings.Count(text, "\n"+own) > 1 {
			t.Errorf("%q stands there twice:\n%s", own, text)
		}
	}
}

// TestADigestOfAnyShape: it stays in its slot and is closed, whatever left.
func TestADigestOfAnyShape(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 10_000
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
		"deep":           strings.Repeat(`{"a":[`, n),
		"escapes":        `{"output":"` + strings.Repeat(`\\\n\"`, n) + `"}`,
		"strings":        "[" + strings.Repeat(`"a\nb",`, n) + `"c"]`,
		"nested":         `{"output":"` + strings.Repeat(`{\"a\":\"`, n),
		"stops":          strings.Repeat("1. ", n),
		"quotes":         `[` + strings.Repeat(`\"`, n),
		"runes":          strings.Repeat("日本語_1 ", n),
	}
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"command": text, "path": "a/b.go", "content": text})
			list := exchange(1, "edit", string(args), text)
			list[0].Parts = []compact.Part{{Text: compact.Plain(text)}}
			list = append(list, user(text))
			for _, size := range []int{44, 48, 52, 60, 70, 80, 120, 700, 8192} {
				record := recordOf(size, list)
				part := compact.Part{Text: compact.Plain(record)}
				if cost := (compacttest.Bytes{}).Part(&part); cost > size || record != "" && !strings.HasSuffix(record, foot) {
					t.Errorf("%d tokens in a slot of %d", cost, size)
				}
			}
		})
	}
}

// TestADigestOfManyMessages: very many short exchanges, each with a line for
// every section, cost no more than a few looks each.
func TestADigestOfManyMessages(t *testing.T) {
	counted := func(n int) int {
		var lost []compact.Message
		for i := range n {
			lost = append(lost, user(fmt.Sprintf("You must keep thing_%d as it was, whatever comes of it in the end.", i)))
			list := exchange(i, "edit_file", fmt.Sprintf(`{"path":"src/file_%d.go","old_string":"a_%d","new_string":"b"}`, i*7, i), fmt.Sprintf("error: never_%d must not be", i))
			list[0].Parts = []compact.Part{{Text: compact.Plain(fmt.Sprintf("The cause of all of it is thing_%d, as far as I see it.", i*3))}}
			lost = append(lost, list...)
		}
		for i := range lost {
			lost[i].Origin = i
		}
		c := &countingLooks{}
		Of(lost, nil, 900, c)
		return c.n
	}
	few, many := counted(2000), counted(20_000)
	if many > few*2 {
		t.Errorf("%d texts are counted for 2,000 exchanges, %d for 20,000", few, many)
	}
}

// countingLooks counts how often a text is counted.
type countingLooks struct {
	compacttest.Bytes
	n int
}

func (c *countingLooks) Part(p *compact.Part) int {
	c.n++
	return c.Bytes.Part(p)
}
