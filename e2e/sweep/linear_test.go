package sweep

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"laconic/e2e/rig"
)

type object = map[string]any

// hostileShapes are requests that make a careless program look at everything
// once for each of n things.
var hostileShapes = []struct {
	name   string
	budget int
	n      int // things in the smaller request
	make   func(n int) []object
}{
	{"calls without ids beside ids that look made up", 20_000, 4000, func(n int) []object {
		var calls []object
		for i := range n {
			calls = append(calls, toolCall(fmt.Sprintf("call_%d", n+1+i), "f", "{}"))
		}
		for range n {
			calls = append(calls, object{"type": "function", "function": object{"name": "f", "arguments": "{}"}})
		}
		return []object{says("user", "go"), {"role": "assistant", "content": nil, "tool_calls": calls}}
	}},
	{"results far behind their calls, the last one first", 20_000, 4000, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, toolCalls(i))
		}
		list = append(list, says("assistant", "so"))
		for i := n - 1; i >= 0; i-- {
			list = append(list, toolResult(i, "done"))
		}
		return list
	}},
	{"results without calls", 20_000, 4000, agent(func(i int) []object {
		return []object{toolResult(i, "done"), says("user", "and")}
	})},
	{"one id for all calls, every second one answered", 20_000, 4000, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, toolCalls(1))
			if i%2 == 0 {
				list = append(list, says("assistant", "wait"), toolResult(1, "done"))
			}
		}
		return list
	}},
	{"one id for two calls of many, beside ids that a second one would take", 20_000, 4000, func(n int) []object {
		var calls []object
		for i := range n {
			nine := fmt.Sprint(n + 1 + i)
			calls = append(calls, toolCall(fmt.Sprint("a_", n+1+i), "f", "{}"), toolCall("a", "f", "{}"),
				toolCall("abcdefghi"[:9-len(nine)]+nine, "f", "{}"), toolCall("abcdefghi", "f", "{}"))
		}
		return []object{says("user", "go"), {"role": "assistant", "content": nil, "tool_calls": calls}}
	}},
	{"results far behind their calls, each with an answer behind it", 20_000, 4000, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, toolCalls(i), says("assistant", "one moment"))
		}
		for i := n - 1; i >= 0; i-- {
			list = append(list, toolResult(i, "done"))
		}
		return list
	}},
	{"results before their calls", 20_000, 4000, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, toolResult(i, "done"))
		}
		for i := n - 1; i >= 0; i-- {
			list = append(list, toolCalls(i), says("assistant", "one moment"))
		}
		return list
	}},
	{"results of one message between users, the last one first", 20_000, 4000, func(n int) []object {
		var calls, results []object
		for i := range n {
			calls = append(calls, toolCall(fmt.Sprint("c", i), "f", "{}"))
			results = append(results, toolResult(n-1-i, "done"), says("user", "and"))
		}
		return append([]object{says("user", "go"), {"role": "assistant", "content": nil, "tool_calls": calls}}, results...)
	}},
	{"images in the first message", 3000, 4000, func(n int) []object {
		var parts []object
		for range n {
			parts = append(parts, object{"type": "image_url", "image_url": object{"url": "https://example.org/a.png"}})
		}
		list := []object{{"role": "user", "content": parts}}
		for i := range n {
			list = append(list, says("assistant", fmt.Sprint("a", i)), says("user", "u"))
		}
		return list
	}},
	{"the same instructions at every turn", 3000, 4000, agent(func(i int) []object {
		return []object{says("assistant", fmt.Sprint("a", i)), says("system", "same"), says("user", "u")}
	})},
	{"other instructions at every turn", 3000, 4000, agent(func(i int) []object {
		return []object{says("assistant", fmt.Sprint("a", i)), says("system", fmt.Sprint("s", i)), says("user", "u")}
	})},
	{"other instructions behind long results", 100_000, 4000, agent(func(i int) []object {
		return []object{toolCalls(i), toolResult(i, strings.Repeat(fmt.Sprintf("w%d ", i), 60)), says("system", fmt.Sprint("s", i))}
	})},
	{"other instructions in a row", 8000, 20_000, func(n int) []object {
		return amongResults(n, func(i int) object { return says("system", fmt.Sprint("s", i)) })
	}},
	{"the same instructions in a row", 8000, 20_000, func(n int) []object {
		return amongResults(n, func(int) object { return says("system", "same instructions") })
	}},
	{"what must stay is above the budget", 2000, 4000, func(n int) []object {
		list := []object{says("user", strings.Repeat("x y ", 4000))}
		for i := range n {
			list = append(list, toolCalls(i), toolResult(i, "ok"))
		}
		return list
	}},
	{"long questions, none of them answered", 3000, 1000, agent(func(i int) []object {
		return []object{says("user", strings.Repeat(fmt.Sprint("q", i, " "), 100)), says("assistant", "ok"), says("user", "x")}
	})},
	{"notes without end behind a result", 4000, 4000, func(n int) []object {
		list := []object{says("user", "go"), toolCalls(1), toolResult(1, "ok")}
		for i := range n {
			list = append(list, says("system", fmt.Sprint("left: ", n-i)))
		}
		for range n {
			list = append(list, says("assistant", "ok"), says("user", "x"))
		}
		return list
	}},
	{"calls at once, with long results", 8000, 1000, func(n int) []object {
		var all, results []object
		for i := range n {
			all = append(all, toolCall(fmt.Sprint("c", i), "f", fmt.Sprintf(`{"text":%q}`, strings.Repeat("word ", 100))))
			results = append(results, toolResult(i, strings.Repeat(fmt.Sprintf("line %d\n", i), 100)))
		}
		return append([]object{says("user", "go"), {"role": "assistant", "content": nil, "tool_calls": all}}, results...)
	}},
	{"one call again and again", 4000, 1000, agent(func(i int) []object {
		c := toolCalls(i)
		return []object{c, toolResult(i, strings.Repeat("the same line of output\n", 20))}
	})},
	{"names that differ", 8000, 1000, agent(func(i int) []object {
		var b strings.Builder
		for k := range 50 {
			fmt.Fprintf(&b, "src/pkg%dq%d/file_%d.go ", i, k*7%13, k*i)
		}
		return []object{toolCalls(i), toolResult(i, b.String())}
	})},
	{"lines that bind", 8000, 1000, agent(func(i int) []object {
		return []object{toolCalls(i), toolResult(i, strings.Repeat(fmt.Sprintf("You must never change file_%d.go unless told.\n", i), 40))}
	})},
	{"JSON in JSON in JSON", 8000, 500, agent(func(i int) []object {
		text := strings.Repeat(fmt.Sprintf("value_%d = %d\n", i, i), 60)
		for range 3 {
			quoted, _ := json.Marshal(object{"output": text})
			text = string(quoted)
		}
		return []object{toolCalls(i), toolResult(i, text)}
	})},
	{"one line without an end", 8000, 100, func(n int) []object {
		return []object{says("user", "go"), toolCalls(1), toolResult(1, strings.Repeat("must_not/x.go:1 ", n*200)), toolCalls(2), toolResult(2, strings.Repeat(`{"a":[`, n*100)), says("user", "and"), says("assistant", "so"), says("user", "end")}
	}},
	{"signed thinking in parts beside pictures, and late results", 20_000, 2000, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			m := toolCalls(i)
			m["content"] = []object{
				{"type": "thinking", "thinking": "so it is", "signature": "Eq"}, {"type": "image_url", "image_url": object{"url": "data:image/png;base64,AAAA"}},
			}
			m["thinking_blocks"] = []object{{"type": "thinking", "thinking": "so it is", "signature": "Eq"}}
			if list = append(list, m); i > 0 {
				list = append(list, toolResult(i-1, "done"))
			}
			if i%5 == 0 {
				list = append(list, says("user", "on"))
			}
		}
		return list
	}},
	{"signed thinking beside each picture of one answer", 3000, 2000, func(n int) []object {
		var parts []object
		for range n {
			parts = append(parts, object{"type": "thinking", "thinking": "so", "signature": "Eq"}, object{"type": "image_url", "image_url": object{"url": "https://example.org/a.png"}})
		}
		return []object{says("user", "go"), {"role": "assistant", "content": parts}, says("user", "on"), says("assistant", "so"), says("user", "end")}
	}},
	{"readings of a file before a long edit", 3000, 500, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, object{"role": "assistant", "content": nil, "tool_calls": []object{toolCall(fmt.Sprint("c", i), "read", `{"filePath":"/w/a.md"}`)}}, toolResult(i, fmt.Sprintf("It must hold %d.\nSo it is.", i)))
		}
		edit := fmt.Sprintf(`{"filePath":"/w/a.md","oldString":%q,"newString":"one"}`, strings.Repeat("a row of them\n", 4*n))
		return append(list, object{"role": "assistant", "content": nil, "tool_calls": []object{toolCall(fmt.Sprint("c", n), "edit", edit)}}, toolResult(n, "Edit applied successfully."), says("assistant", strings.Repeat("word ", 1800)), says("user", "next"))
	}},
	{"edits of one file", 8000, 1000, agent(func(i int) []object {
		c := toolCall(fmt.Sprint("c", i), "edit_file", fmt.Sprintf(`{"path":"src/app_%d.go","text":%q}`, i%7, strings.Repeat("word ", 60)))
		return []object{{"role": "assistant", "content": fmt.Sprintf("I conclude that %d is wrong.", i), "tool_calls": []object{c}}, toolResult(i, "--- FAIL: TestIt (0.1s)")}
	})},
	{"edits of regions that other edits changed", 8000, 1000, agent(func(i int) []object {
		c := toolCall(fmt.Sprint("c", i), "edit", fmt.Sprintf(`{"path":"d%d/app.go","old_string":"line %d\\n","new_string":"line %d\\nline %d\\n%s"}`, i%400, i, i+1, i, strings.Repeat("more ", 60)))
		return []object{{"role": "assistant", "content": nil, "tool_calls": []object{c}}, toolResult(i, "done")}
	})},
}

// amongResults puts n messages in the middle of long results.
func amongResults(n int, message func(i int) object) []object {
	list := []object{says("user", "go")}
	for i := range 80 {
		list = append(list, toolCalls(i), toolResult(i, strings.Repeat("word ", 200)))
		for k := 0; i == 40 && k < n; k++ {
			list = append(list, message(k))
		}
	}
	return list
}

// agent returns what makes a request of n turns.
func agent(turn func(i int) []object) func(n int) []object {
	return func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, turn(i)...)
		}
		return list
	}
}

func says(role, text string) object { return object{"role": role, "content": text} }

func toolCall(id, name, arguments string) object {
	return object{"id": id, "type": "function", "function": object{"name": name, "arguments": arguments}}
}

func toolCalls(i int) object {
	return object{"role": "assistant", "content": nil, "tool_calls": []object{toolCall(fmt.Sprint("c", i), "f", "{}")}}
}

func toolResult(i int, text string) object {
	return object{"role": "tool", "tool_call_id": fmt.Sprint("c", i), "content": text}
}

// TestCostIsLinear: a hostile request of twice the length is twice the work. Work
// is the number of statements of this module that the command runs, which a
// build for coverage counts: no clock is asked. What the standard library does
// for one statement is not seen.
func TestCostIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command once more, to count its statements")
	}
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "laconic")
	build := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg=laconic/...", "-o", bin, "laconic")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config := filepath.Join(dir, "laconic.yaml")
	// Counting has a test of its own; without tables to build a run is short.
	rig.WriteFile(t, config, "models: [{match: '*', tokenizer: bytes/4}]\n")
	for i, s := range hostileShapes {
		t.Run(s.name, func(t *testing.T) {
			run := func(n int) int64 {
				return statements(t, bin, config, filepath.Join(dir, fmt.Sprint(i, "_", n)), s.budget, s.make(n))
			}
			small, large, idle := run(s.n), run(2*s.n), run(1)
			growth := float64(large-idle) / float64(small-idle)
			t.Logf("%d and %d thousand statements, %d for one: %.2f times as many", small/1000, large/1000, idle/1000, growth)
			if growth > 2.3 {
				t.Errorf("twice the length is %.2f times the work", growth)
			}
		})
	}
}

// statements is how many statements the command runs to compact a request.
func statements(t *testing.T, bin, config, counts string, budget int, messages []object) (n int64) {
	t.Helper()
	body, err := json.Marshal(object{"model": "some-model", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(counts, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "compact", "--config", config, "--budget", strconv.Itoa(budget))
	cmd.Stdin, cmd.Env = strings.NewReader(string(body)), append(os.Environ(), "GOCOVERDIR="+counts)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	profile := counts + ".txt"
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+profile).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // file:from,to statements count
		if len(fields) != 3 {
			continue
		}
		statements, _ := strconv.ParseInt(fields[1], 10, 64)
		count, _ := strconv.ParseInt(fields[2], 10, 64)
		n += statements * count
	}
	return n
}
