package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"laconic/e2e/rig"
	"laconic/proxy/wire"
	"laconic/proxy/wire/wiretest"
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
		named := turns(n, func(i int) []object { return []object{toolCall(fmt.Sprintf("call_%d", n+1+i), "f", "{}")} })
		bare := turns(n, func(int) []object {
			return []object{{"type": "function", "function": object{"name": "f", "arguments": "{}"}}}
		})
		return []object{says("user", "go"), calls(append(named, bare...)...)}
	}},
	{"results far behind their calls, the last one first", 20_000, 4000, func(n int) []object {
		alone := turns(n, func(i int) []object { return []object{toolCalls(i)} })
		return slices.Concat([]object{says("user", "go")}, alone, []object{says("assistant", "so")}, late(n))
	}},
	{"results without calls", 20_000, 4000, agent(func(i int) []object {
		return []object{toolResult(i, "done"), says("user", "and")}
	})},
	{"one id for all calls, every second one answered", 20_000, 4000, agent(func(i int) []object {
		if i%2 == 1 {
			return []object{toolCalls(1)}
		}
		return []object{toolCalls(1), says("assistant", "wait"), toolResult(1, "done")}
	})},
	{"one id for two calls of many, beside ids that a second one would take", 20_000, 4000, func(n int) []object {
		return []object{says("user", "go"), calls(turns(n, func(i int) []object {
			nine := fmt.Sprint(n + 1 + i)
			return []object{
				toolCall("a_"+nine, "f", "{}"), toolCall("a", "f", "{}"),
				toolCall("abcdefghi"[:9-len(nine)]+nine, "f", "{}"), toolCall("abcdefghi", "f", "{}"),
			}
		})...)}
	}},
	{"results far behind their calls, each with an answer behind it", 20_000, 4000, func(n int) []object {
		return slices.Concat([]object{says("user", "go")}, turns(n, announced), late(n))
	}},
	{"results before their calls", 20_000, 4000, func(n int) []object {
		return slices.Concat([]object{says("user", "go")}, late(n), turns(n, announced))
	}},
	{"results of one message between users, the last one first", 20_000, 4000, func(n int) []object {
		all := turns(n, func(i int) []object { return []object{toolCall(fmt.Sprint("c", i), "f", "{}")} })
		results := turns(n, func(i int) []object { return []object{toolResult(n-1-i, "done"), says("user", "and")} })
		return append([]object{says("user", "go"), calls(all...)}, results...)
	}},
	{"images in the first message", 3000, 4000, func(n int) []object {
		parts := turns(n, func(int) []object { return []object{picture("https://example.org/a.png")} })
		rest := turns(n, func(i int) []object { return []object{says("assistant", fmt.Sprint("a", i)), says("user", "u")} })
		return append([]object{{"role": "user", "content": parts}}, rest...)
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
		rest := turns(n, func(i int) []object { return []object{toolCalls(i), toolResult(i, "ok")} })
		return append([]object{says("user", strings.Repeat("x y ", 4000))}, rest...)
	}},
	{"long questions, none of them answered", 3000, 1000, agent(func(i int) []object {
		return []object{says("user", strings.Repeat(fmt.Sprint("q", i, " "), 100)), says("assistant", "ok"), says("user", "x")}
	})},
	{"notes without end behind a result", 4000, 4000, func(n int) []object {
		notes := turns(n, func(i int) []object { return []object{says("system", fmt.Sprint("left: ", n-i))} })
		rest := turns(n, func(int) []object { return []object{says("assistant", "ok"), says("user", "x")} })
		return slices.Concat([]object{says("user", "go"), toolCalls(1), toolResult(1, "ok")}, notes, rest)
	}},
	{"calls at once, with long results", 8000, 1000, func(n int) []object {
		text := fmt.Sprintf(`{"text":%q}`, strings.Repeat("word ", 100))
		all := turns(n, func(i int) []object { return []object{toolCall(fmt.Sprint("c", i), "f", text)} })
		results := turns(n, func(i int) []object { return []object{toolResult(i, strings.Repeat(fmt.Sprintf("line %d\n", i), 100))} })
		return append([]object{says("user", "go"), calls(all...)}, results...)
	}},
	{"one call again and again", 4000, 1000, agent(func(i int) []object {
		return []object{toolCalls(i), toolResult(i, strings.Repeat("the same line of output\n", 20))}
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
			m["content"] = []object{thinking, picture("data:image/png;base64,AAAA")}
			m["thinking_blocks"] = []object{thinking}
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
		parts := turns(n, func(int) []object { return []object{thinking, picture("https://example.org/a.png")} })
		return []object{says("user", "go"), {"role": "assistant", "content": parts}, says("user", "on"), says("assistant", "so"), says("user", "end")}
	}},
	{"readings of a file before a long edit", 3000, 500, func(n int) []object {
		list := []object{says("user", "go")}
		for i := range n {
			list = append(list, calls(toolCall(fmt.Sprint("c", i), "read", `{"filePath":"/w/a.md"}`)), toolResult(i, fmt.Sprintf("It must hold %d.\nSo it is.", i)))
		}
		edit := fmt.Sprintf(`{"filePath":"/w/a.md","oldString":%q,"newString":"one"}`, strings.Repeat("a row of them\n", 4*n))
		return append(list, calls(toolCall(fmt.Sprint("c", n), "edit", edit)), toolResult(n, "Edit applied successfully."), says("assistant", strings.Repeat("word ", 1800)), says("user", "next"))
	}},
	{"edits of one file", 8000, 1000, agent(func(i int) []object {
		c := toolCall(fmt.Sprint("c", i), "edit_file", fmt.Sprintf(`{"path":"src/app_%d.go","text":%q}`, i%7, strings.Repeat("word ", 60)))
		return []object{{"role": "assistant", "content": fmt.Sprintf("I conclude that %d is wrong.", i), "tool_calls": []object{c}}, toolResult(i, "--- FAIL: TestIt (0.1s)")}
	})},
	{"edits of regions that other edits changed", 8000, 1000, agent(func(i int) []object {
		c := toolCall(fmt.Sprint("c", i), "edit", fmt.Sprintf(`{"path":"d%d/app.go","old_string":"line %d\\n","new_string":"line %d\\nline %d\\n%s"}`, i%400, i, i+1, i, strings.Repeat("more ", 60)))
		return []object{calls(c), toolResult(i, "done")}
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

// turns returns the messages of n turns, or other things.
func turns(n int, turn func(i int) []object) (list []object) {
	for i := range n {
		list = append(list, turn(i)...)
	}
	return list
}

// agent returns what makes a request of n turns.
func agent(turn func(i int) []object) func(n int) []object {
	return func(n int) []object {
		return append([]object{says("system", "be brief"), says("user", "go")}, turns(n, turn)...)
	}
}

// announced is a turn with an answer behind its call.
func announced(i int) []object { return []object{toolCalls(i), says("assistant", "one moment")} }

// late are the results of n calls, the last one first.
func late(n int) []object {
	return turns(n, func(i int) []object { return []object{toolResult(n-1-i, "done")} })
}

var thinking = object{"type": "thinking", "thinking": "so it is", "signature": "Eq"}

func picture(url string) object { return object{"type": "image_url", "image_url": object{"url": url}} }

func says(role, text string) object { return object{"role": role, "content": text} }

func calls(all ...object) object {
	return object{"role": "assistant", "content": nil, "tool_calls": all}
}

func toolCall(id, name, arguments string) object {
	return object{"id": id, "type": "function", "function": object{"name": name, "arguments": arguments}}
}

func toolCalls(i int) object { return calls(toolCall(fmt.Sprint("c", i), "f", "{}")) }

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
	run(t, dir, nil, "go", "build", "-o", dir, "cmd/covdata") // go tool covdata looks for it anew each time
	run(t, dir, nil, "go", "build", "-cover", "-covermode=count", "-coverpkg=laconic/...", "-o", dir, "laconic")
	config := filepath.Join(dir, "laconic.yaml")
	// Counting has a test of its own; without tables to build a run is short.
	rig.WriteFile(t, config, "models: [{match: '*', tokenizer: bytes/4}]\n")
	for _, w := range wire.All {
		for _, s := range hostileShapes {
			if w != wire.Chat && (s.n < 4000 || strings.Contains(fmt.Sprint(s.make(1)), "image_url")) {
				continue // longer messages differ in their texts, which no API changes, and wiretest knows no pictures
			}
			t.Run(w.Name()+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				count := func(n int) int64 {
					chat, err := json.Marshal(object{"model": "some-model", "messages": s.make(n)})
					body := wiretest.As(t, w, chat)
					if err != nil || wire.Detect(body) != w {
						t.Fatalf("%v, or read as another API: %.200s", err, body)
					}
					return statements(t, dir, config, s.budget, body)
				}
				small, large := count(s.n), count(2*s.n)
				growth := float64(large) / float64(small)
				t.Logf("%d and %d thousand statements: %.2f times as many", small/1000, large/1000, growth)
				if growth > 2.3 {
					t.Errorf("twice the length is %.2f times the work", growth)
				}
			})
		}
	}
}

// statements is how many statements the command in a folder runs to compact a request.
func statements(t *testing.T, dir, config string, budget int, body []byte) (n int64) {
	t.Helper()
	counts, err := os.MkdirTemp(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(counts, "profile.txt")
	run(t, counts, body, filepath.Join(dir, "laconic"), "compact", "--config", config, "--budget", strconv.Itoa(budget))
	run(t, counts, nil, filepath.Join(dir, "covdata"), "textfmt", "-i="+counts, "-o="+profile)
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line) // file:from,to statements count
		if len(fields) != 3 {
			continue
		}
		statements, _ := strconv.ParseInt(fields[1], 10, 64)
		count, _ := strconv.ParseInt(fields[2], 10, 64)
		n += statements * count
	}
	return n
}

// run runs a program, which leaves its counts in a folder if it is built for coverage.
func run(t *testing.T, counts string, stdin []byte, name string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stderr, cmd.Env = bytes.NewReader(stdin), &said, append(os.Environ(), "GOCOVERDIR="+counts)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
}
