package stage

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// session is a scripted run of a coding agent of 40 calls, its facts planted by
// a seed: a task file with rules, a settings file, a failing test, source
// files, searches, long listings, and notes.
type session struct {
	msgs []compact.Message
	rng  *rand.Rand
	wrap string // how results are written: plain, json, parts, nested

	rule, port, test, edited string
	planted                  map[string]int // index of the message where a fact came up first
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func newSession(seed uint64, wrap string) *session {
	s := &session{rng: rand.New(rand.NewPCG(seed, 77)), wrap: wrap, planted: map[string]int{}}
	s.port = fmt.Sprint(20000 + s.rng.IntN(40000))
	s.test = "Test" + pick(s.rng, "Breaker", "Ledger") + pick(s.rng, "ClosesOnce", "DrainsQueue")
	s.edited = "src/" + pick(s.rng, "window", "ledger") + pick(s.rng, "_pool", "_merge") + ".go"
	s.rule = fmt.Sprintf(pick(s.rng, "Do not change vendor/%s.lock.", "The file gen/%s.pb.go must stay as it is."), pick(s.rng, "quartz", "basalt"))
	s.script()
	return s
}

func (s *session) taskFile() string {
	rules := []string{s.rule, "Report BREAKER_PORT and the failing test at the end.", "Findings go to NOTES.md, one line each.", "Keep commits small."}
	s.rng.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	return "# OPS-4127: the breaker opens twice\n\nFind out why, and mend it.\n\n## Rules\n\n- " + strings.Join(rules, "\n- ") + "\n\n## Background\n\n" +
		strings.Repeat("The courier hands each parcel to the dispatcher, which waits for the ceiling of the window and then asks again.\n", 12)
}

func (s *session) settings() (name, text string) {
	var lines []string
	for i := range 4 + 2*s.rng.IntN(8) {
		lines = append(lines, fmt.Sprintf("%s%d: %d", pick(s.rng, "retry", "cache", "queue"), i, 1+s.rng.IntN(900)))
	}
	if s.rng.IntN(2) == 0 {
		lines[len(lines)/2] = "breaker:\n  port: " + s.port
		return "config/limits.yaml", strings.Join(lines, "\n")
	}
	lines[len(lines)/2] = "BREAKER_PORT=" + s.port
	return "config/limits.env", strings.ToUpper(strings.ReplaceAll(strings.Join(lines, "\n"), ": ", "="))
}

// source is a file of Go of about 6 KB whose identifiers are its own.
func (s *session) source(name string) string {
	words := []string{"Window", "Attempt", "Ceiling", "Request", "Header", "Deadline", "Bucket", "Signal"}
	text := "package src\n\n// It must not be copied.\n"
	for len(text) < 6000 {
		a, c := pick(s.rng, words...), pick(s.rng, words...)
		text += fmt.Sprintf("\n// %[1]s%[2]s%[3]d returns the %[1]s of a %[2]s in %[4]s.\nfunc (x *pool) %[1]s%[2]s%[3]d(%[1]s int) error {\n\tif x.limit < %[1]s {\n\t\treturn fmt.Errorf(\"error: %[2]s not found\")\n\t}\n\treturn nil\n}\n", a, c, s.rng.IntN(5000), name)
	}
	return text
}

func (s *session) testRun() string {
	passed := ""
	for i := range 180 {
		passed += fmt.Sprintf("=== RUN   TestDelivery/case_%d\n--- PASS: TestDelivery/case_%d (0.0%ds)\n", i, i, i%9)
	}
	return passed + fmt.Sprintf("--- FAIL: %s (0.03s)\n    breaker_test.go:%d: got 120s, want at most 30s\n", s.test, 40+s.rng.IntN(200)) +
		passed[:2000] + "FAIL\tparceld/src\t0.412s\nFAIL\n"
}

// script writes the whole session.
func (s *session) script() {
	s.add(compact.Message{Role: compact.System, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("You are a coding agent. Be brief. " + strings.Repeat("Work in small steps and say what you do. ", 40))}}})
	s.add(compact.Message{Role: compact.User, Shape: compact.String, Parts: []compact.Part{{Text: compact.Plain("Work on ticket OPS-4127 in this folder: read TASK.md, follow its rules to the letter, and report what it asks for at the end.")}}})
	s.planted["rule"] = len(s.msgs) + 2
	s.read("I start with the task.", "TASK.md", s.taskFile())
	name, text := s.settings()
	s.planted["port"] = len(s.msgs) + 2
	s.read("The settings next.", name, text)
	s.planted["test"] = len(s.msgs) + 2
	s.run("Now the tests.", "./run_tests.sh", s.testRun())
	files := []string{s.edited}
	for _, a := range []string{"retry", "breaker", "dispatch", "queue", "parcel", "clock", "lease", "drain"} {
		files = append(files, "src/"+a+".go", "src/"+a+"_help.go")
	}
	for i := range 37 {
		switch {
		case i%9 == 4:
			s.run("", fmt.Sprintf("seq %d %d", 1000*i, 1000*i+2800), strings.Repeat(fmt.Sprintln(1000*i), 2800))
		case i%9 == 6:
			note := fmt.Sprintf("%d. %s:%d the ceiling is not applied", i, files[1+s.rng.IntN(16)], 20+s.rng.IntN(90))
			s.run("A finding: "+note+".", "echo \""+note+"\" >> NOTES.md", "")
		case i == 14:
			s.planted["edited"] = len(s.msgs) + 1
			s.edit()
		case i%9 == 8:
			s.run("Who uses it?", "grep -rn \"ceiling\" src", strings.Repeat("src/retry.go:41:\t// the ceiling of the window\n", 4)+"src/clock.go:9:\tceiling int\n")
		default:
			f := files[i%len(files)]
			s.read(pick(s.rng, "And here.", "Next file.", ""), f, s.source(f))
		}
	}
}

func (s *session) add(m compact.Message) {
	m.Origin = len(s.msgs)
	s.msgs = append(s.msgs, m)
}

func (s *session) read(says, path, result string) {
	s.step(says, "cat "+path, "read_file", map[string]any{"path": path}, result)
}

func (s *session) run(says, command, result string) {
	s.step(says, command, "run_command", map[string]any{"command": command}, result)
}

func (s *session) edit() {
	s.step("I mend it.", "sed -i 's/limit > 3/limit >= 3/' "+s.edited, "edit_file", map[string]any{"path": s.edited, "old_string": "limit > 3", "new_string": "limit >= 3"}, "")
}

// step is one call: of a shell where results are objects, or else of a tool.
func (s *session) step(says, command, tool string, args map[string]any, result string) {
	if s.wrap == "json" {
		tool, args = "shell", map[string]any{"command": []string{"bash", "-lc", command}}
	}
	s.call(says, tool, args, result)
}

func (s *session) call(says, name string, args map[string]any, result string) {
	raw, _ := json.Marshal(args)
	id := fmt.Sprintf("call_%d", len(s.msgs))
	m := compact.Message{Role: compact.Assistant, Shape: compact.Null, Calls: []compact.Call{{ID: id, Name: name, Arguments: compact.Plain(string(raw))}}}
	if says != "" {
		m.Shape, m.Parts = compact.String, []compact.Part{{Text: compact.Plain(says)}}
	}
	s.add(m)
	s.add(compact.Message{Role: compact.Tool, Shape: compact.String, Answers: id, Parts: []compact.Part{{Text: compact.Plain(compacttest.Wrap(s.wrap, result))}}})
}

// TestASessionGoesOn: a session of 40 calls in a small window keeps what the
// agent needs to go on, through all of its epochs: the rule of the task, the
// line of the settings, the test that fails, what it edited, its notes.
func TestASessionGoesOn(t *testing.T) {
	policy := &compact.Policy{Name: "adaptive", Ladder: Default()}
	for _, budget := range []int{6000, 12_000} {
		for i, wrap := range compacttest.Wrappers {
			kept, asked := map[string]int{}, map[string]int{}
			for seed := range uint64(3) {
				s := newSession(100*uint64(i)+seed, wrap)
				for k := 6; k <= len(s.msgs); k += 8 {
					in := compact.Conversation{Messages: s.msgs[:k:k]}
					plan, _ := compact.Compact(in, policy, compacttest.Bytes{}, compact.Limits{Budget: budget}.For(0))
					if plan.Slot == nil {
						continue
					}
					sent := said(plan.Apply())
					ask := func(what, value string) {
						if k > s.planted[what] {
							asked[what]++
							if strings.Contains(sent, value) {
								kept[what]++
							}
						}
					}
					ask("rule", s.rule)
					ask("port", s.port)
					ask("test", s.test)
					ask("edited", s.edited)
				}
			}
			for what, n := range asked {
				if kept[what]*100 < n*95 {
					t.Errorf("budget %d, results %s: the %s is in %d of %d requests", budget, wrap, what, kept[what], n)
				}
			}
			if asked["port"] == 0 {
				t.Errorf("budget %d, results %s: no request had a record", budget, wrap)
			}
		}
	}
}

// said is all that a model reads of messages, a line each.
func said(msgs []compact.Message) string {
	var b strings.Builder
	for i := range msgs {
		for p := range msgs[i].Parts {
			b.WriteString(msgs[i].Parts[p].Text.String() + "\n")
		}
		for c := range msgs[i].Calls {
			b.WriteString(msgs[i].Calls[c].Arguments.String() + "\n")
		}
	}
	return b.String()
}
