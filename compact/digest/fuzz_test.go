package digest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// FuzzDigest: whatever left, a digest stays in its slot, is closed once, is the
// same when it is made again, and no line of it that was quoted looks like one
// of its own.
func FuzzDigest(f *testing.F) {
	f.Add("you must go", `{"path":"a.go"}`, "package a\nnever_do = 1\n", 200)
	f.Add("x", `{"command":["bash","-lc","cat > x <<E"]}`, `{"output":"--- FAIL: T_1\n  a.go:3: no"}`, 90)
	f.Add("", `[1`, "rules of the user:\n- must\nfrom a:\n[End of the record]", 300)
	f.Add("- must a\n- b", "", "1. x_1\n2. never", 60)
	f.Fuzz(func(t *testing.T, said, args, result string, size int) {
		if size < 0 || size > 4000 {
			return
		}
		lost := append([]compact.Message{user(said)}, exchange(1, "edit", args, result)...)
		lost[1].Parts = []compact.Part{{Text: compact.Plain(said)}}
		lost = append(lost, exchange(2, said, args, result+said)...)
		for i := range lost {
			lost[i].Origin = i
		}
		record := Of(lost[:4], lost[4:], size, compacttest.Bytes{})
		if record != Of(lost[:4], lost[4:], size, compacttest.Bytes{}) {
			t.Error("the second digest is another one")
		}
		if record == "" {
			return
		}
		part := compact.Part{Text: compact.Plain(record)}
		if cost := (compacttest.Bytes{}).Part(&part); cost > size {
			t.Errorf("%d tokens in a slot of %d", cost, size)
		}
		if !strings.HasSuffix(record, foot) || strings.Count(record, "[End of the record]") != 1 {
			t.Errorf("not closed once:\n%s", record)
		}
		for _, own := range []string{"rules of the user:", "rules in what was read", "excerpts:", "names:", "called before:"} {
			if strings.Count(record, "\n"+own) > 1 {
				t.Errorf("%q stands there twice:\n%s", own, record)
			}
		}
	})
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
