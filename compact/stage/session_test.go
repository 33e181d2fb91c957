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
	notes                    []string
	planted                  map[string]int // index of the message where a fact came up first
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func newSession(seed uint64, wrap string) *session {
	s := &session{rng: rand.New(rand.NewPCG(seed, 77)), wrap: wrap, planted: map[string]int{}}
	s.port = fmt.Sprint(20000 + s.rng.IntN(40000))
	s.test = "Test" + pick(s.rng, "Breaker", "Ledger", "Quota", "Courier") + pick(s.rng, "ClosesOnce", "HonoursCeiling", "DrainsQueue", "RejectsTwice")
	s.edited = "src/" + pick(s.rng, "window", "ledger", "courier", "throttle") + pick(s.rng, "_pool", "_state", "_merge") + ".go"
	s.rule = pick(s.rng, "Do not change vendor/%s.lock.", "Never run the migration %s before the suite passed.", "The file gen/%s.pb.go must stay as it is.", "Only members of %s may approve a release.")
	s.rule = fmt.Sprintf(s.rule, pick(s.rng, "quartz", "basalt", "marble", "obsidian"))
	s.script()
	return s
}

// key is what the task calls the port.
const portKey = "BREAKER_PORT"

func (s *session) taskFile() string {
	rules := []string{s.rule, "Report " + portKey + " and the failing test at the end.", "Findings go to NOTES.md, one line each.", "Keep commits small."}
	s.rng.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	var b strings.Builder
	b.WriteString("# OPS-4127: the breaker opens twice\n\nCustomers see the breaker open again right after it closed. Find out why, and mend it.\nThe service is written in Go; its settings are in config.\n\n## Rules\n\n")
	form := pick(s.rng, "%d. %s\n", "%d) %s\n", "- %[2]s\n")
	for i, r := range rules {
		if form[0] == '-' {
			fmt.Fprintf(&b, "- %s\n", r)
			continue
		}
		fmt.Fprintf(&b, form, i+1, r)
	}
	b.WriteString("\n## Background\n\n")
	for range 12 {
		b.WriteString("The courier hands each parcel to the dispatcher, which waits for the ceiling of the window and then asks again.\n")
	}
	return b.String()
}

func (s *session) settings() (name, text string) {
	form := s.rng.IntN(5)
	filler := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, pick(s.rng, "retry", "cache", "queue", "drain", "lease")+fmt.Sprint(i), 1+s.rng.IntN(900))
		}
		return b.String()
	}
	n := 2 + s.rng.IntN(8)
	switch form {
	case 0:
		up := strings.ToUpper
		return "config/limits.env", up(filler("%s_cap=%d\n", n)) + portKey + "=" + s.port + "\n" + up(filler("%s_max=%d\n", n))
	case 1:
		return "config/limits.yaml", filler("%s: %d\n", n) + "breaker:\n  port: " + s.port + "\n  host: localhost\n" + filler("%s: %d\n", n)
	case 2:
		return "config/limits.json", "{\n" + filler("  \"%s\": %d,\n", n) + "  \"breaker\": {\"port\": " + s.port + "},\n" + filler("  \"%s\": %d,\n", n) + "  \"end\": true\n}\n"
	case 3:
		return "config/limits.md", "| name | value |\n| --- | --- |\n" + filler("| %s | %d |\n", n) + "| breaker port | " + s.port + " |\n" + filler("| %s | %d |\n", n)
	}
	return "config/README.md", "The limits of the service are few.\n" + filler("The %s is %d units long.\n", n) + "The breaker listens on port " + s.port + " and nowhere else.\n" + filler("The %s is %d units long.\n", n)
}

// source is a file of Go of 5 to 8 KB whose identifiers are its own.
func (s *session) source(name string) string {
	var b strings.Builder
	base := strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".go")
	fmt.Fprintf(&b, "package src\n\nimport (\n\t\"net/http\"\n\t\"time\"\n)\n\n// %s holds what is waited for. It must not be copied.\ntype %s struct {\n\tlimit time.Duration\n}\n", base, base)
	words := []string{"window", "attempt", "ceiling", "request", "header", "deadline", "bucket", "signal", "backoff", "receipt"}
	size := 5000 + s.rng.IntN(3000)
	for i := 0; b.Len() < size; i++ {
		a, c := words[s.rng.IntN(len(words))], words[s.rng.IntN(len(words))]
		fn := strings.ToUpper(a[:1]) + a[1:] + strings.ToUpper(c[:1]) + c[1:] + fmt.Sprint(s.rng.IntN(90))
		fmt.Fprintf(&b, "\n// %s returns the %s of a %s, never less than the %s that was asked for.\nfunc (x *%s) %s(%s int, r *http.Request) (time.Duration, error) {\n\tif x.limit < time.Duration(%s) {\n\t\treturn 0, fmt.Errorf(\"error: %s not found\")\n\t}\n\tx.%s_%s += %d\n\treturn x.limit, nil\n}\n",
			fn, a, c, pick(s.rng, words...), base, fn, a, a, c, a, c, s.rng.IntN(5000))
	}
	return b.String()
}

func (s *session) testRun(fails bool) string {
	var b strings.Builder
	for i := range 180 {
		fmt.Fprintf(&b, "=== RUN   TestDelivery/case_%d\n--- PASS: TestDelivery/case_%d (0.0%ds)\n", i, i, i%9)
	}
	if fails {
		fmt.Fprintf(&b, "--- FAIL: %s (0.03s)\n    breaker_test.go:%d: got 120s, want at most 30s\n", s.test, 40+s.rng.IntN(200))
	}
	for i := range 60 {
		fmt.Fprintf(&b, "=== RUN   TestParcel/case_%d\n--- PASS: TestParcel/case_%d (0.00s)\n", i, i)
	}
	b.WriteString("FAIL\tparceld/src\t0.412s\nFAIL\n")
	return b.String()
}

func seq(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
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
	s.run("Now the tests.", "./run_tests.sh", s.testRun(true))
	files := []string{s.edited}
	for _, a := range []string{"retry", "breaker", "dispatch", "queue", "parcel", "clock", "lease", "drain"} {
		files = append(files, "src/"+a+".go", "src/"+a+"_help.go")
	}
	for i := 0; i < 37; i++ {
		switch {
		case i%9 == 4:
			s.run("", fmt.Sprintf("seq %d %d", 1000*i, 1000*i+2800), seq(1000*i, 1000*i+2800))
		case i%9 == 6:
			f := files[1+s.rng.IntN(len(files)-1)]
			note := fmt.Sprintf("%d. %s:%d %s", i, f, 20+s.rng.IntN(90), pick(s.rng, "ceiling is not applied", "attempt counter is shared", "GET is repeated"))
			s.notes = append(s.notes, note)
			s.planted[note] = len(s.msgs) + 1
			s.run("A finding: "+note+".", "echo \""+note+"\" >> NOTES.md", "")
		case i == 14:
			s.planted["edited"] = len(s.msgs) + 1
			s.edit()
		case i%9 == 8:
			s.run("Who uses it?", "grep -rn \"ceiling\" src", strings.Repeat("src/retry.go:41:\t// the ceiling of the window\n", 4)+"src/clock.go:9:\tceiling int\n")
		default:
			f := files[i%len(files)]
			s.read(pick(s.rng, "And here.", "Next file.", "I read on.", ""), f, s.source(f))
		}
	}
}

func (s *session) add(m compact.Message) {
	m.Origin = len(s.msgs)
	s.msgs = append(s.msgs, m)
}

func (s *session) read(says, path, result string) {
	if s.wrap == "json" {
		s.call(says, "shell", map[string]any{"command": []string{"bash", "-lc", "cat " + path}}, result)
		return
	}
	s.call(says, "read_file", map[string]any{"path": path}, result)
}

func (s *session) run(says, command, result string) {
	if s.wrap == "json" {
		s.call(says, "shell", map[string]any{"command": []string{"bash", "-lc", command}}, result)
		return
	}
	s.call(says, "run_command", map[string]any{"command": command}, result)
}

func (s *session) edit() {
	if s.wrap == "json" {
		s.call("I mend it.", "shell", map[string]any{"command": []string{"bash", "-lc", "sed -i 's/limit > 3/limit >= 3/' " + s.edited}}, "")
		return
	}
	s.call("I mend it.", "edit_file", map[string]any{"path": s.edited, "old_string": "limit > 3", "new_string": "limit >= 3"}, "The file was edited.")
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
					sent := said(plan.Apply(in))
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
