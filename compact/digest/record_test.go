package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// epochs splits a conversation into what leaves at each of a number of epochs. At
// epoch k kept(k) is what stays.
func epochs(msgs []compact.Message, n int) (lost [][]compact.Message, kept func(k int) []compact.Message) {
	size := len(msgs) / (n + 1)
	for k := range n {
		lost = append(lost, msgs[k*size:(k+1)*size])
	}
	return lost, func(k int) []compact.Message { return msgs[(k+1)*size : min(len(msgs), (k+2)*size)] }
}

// TestAPartSaysWhatIsNew: what an earlier part says, and what the model still
// reads, is not quoted again. Each part is whole.
func TestAPartSaysWhatIsNew(t *testing.T) {
	msgs := story(t)
	for i := range msgs {
		if msgs[i].Role.Result() {
			msgs[i].Parts[0].Text = compact.Plain(msgs[i].Parts[0].Text.String() + "\nthe_port is at 8080 until then")
		}
	}
	lost, kept := epochs(msgs, 5)
	r := NewRecord(compacttest.Bytes{})
	record := ""
	for k := range lost {
		text := r.Add(lost[k], kept(k)[:3], 400, false)
		checkPart(t, text, 400, compacttest.Bytes{})
		if n := compact.CostText(compacttest.Bytes{}, text); n < 200 {
			t.Errorf("part %d has %d tokens of 400", k, n)
		}
		head := fmt.Sprintf("\n[Record of %d more]\n", len(lost[k]))
		if k == 0 {
			head = fmt.Sprintf(firstHead, len(lost[k]))
		}
		if !strings.HasPrefix(text, head) {
			t.Errorf("part %d begins with another head:\n%s", k, text)
		}
		for line := range strings.Lines(text) {
			if len(line) > longEnough && strings.HasPrefix(line, "  ") && strings.Contains(record, "\n"+line) {
				t.Errorf("part %d says again: %s", k, line)
			}
		}
		if newest := fmt.Sprintf("\nuser: question %d ", lost[k][len(lost[k])-3].Origin/3); !strings.Contains(text, newest) {
			t.Errorf("part %d does not have %q:\n%s", k, newest, text)
		}
		record += text
	}
	if strings.Contains(record, "the_port is") {
		t.Errorf("what the model reads is told:\n%s", record)
	}
	text := recordOf(2000, msgs)
	if n := strings.Count(text, "the_port is"); n > 2 { // the result itself says it twice
		t.Errorf("what each message says is there %d times:\n%s", n, text)
	}
}

// TestStepsBehindAMessageThatStays: a part says where the message came that its last steps follow.
func TestStepsBehindAMessageThatStays(t *testing.T) {
	msgs := conversation(run(1, "make base=1", "2795 lost"), say(user("Equal it is.\nTake base 2 min.")), run(2, "make base=2", "2398 lost"), say(user("Now park dead feeds.")))
	text := NewRecord(compacttest.Bytes{}).Add(slices.Concat(msgs[:2], msgs[3:5]), say(msgs[2], msgs[5]), 2000, false)
	if want := "$ make base=1 → 2795 lost\nuser, kept: Equal it is. Take base 2 min.\n$ make base=2 → 2398 lost\n"; !strings.Contains(text, want) || strings.Contains(text, "park") {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestARecordMadeAnewIsForAll: after any number of parts it is the digest of
// everything.
func TestARecordMadeAnewIsForAll(t *testing.T) {
	msgs := story(t)
	kept := compacttest.Messages(t, "user: see src/file_170.go and HandlerNumber3")
	kept[0].Origin = len(msgs)
	for _, size := range []int{100, 400, 1500} {
		r := NewRecord(compacttest.Bytes{})
		lost, _ := epochs(msgs, 7) // a part may end between a call and its result
		for k := range lost {
			r.Add(lost[k], kept, size/(1+k*10%30), false) // some are too small to say anything
		}
		all := slices.Concat(lost...)
		if got, want := r.Add(nil, kept, size, true), digestOf(all, kept, size, compacttest.Bytes{}); got != want {
			t.Errorf("size %d: made anew\n%s\nis not the digest of all\n%s", size, got, want)
		}
	}
}

// counted makes the texts of messages count in decoded how often they are read,
// by message.
func counted(msgs []compact.Message) (decoded []int) {
	decoded = make([]int, len(msgs))
	for i := range msgs {
		coding := &compact.Coding{
			Decode: func(s string) string { decoded[i]++; return s },
		}
		for p := range msgs[i].Parts {
			text := msgs[i].Parts[p].Text.String()
			msgs[i].Parts[p].Text = compact.Encoded(text, len(text), coding)
		}
		for c := range msgs[i].Calls {
			text := msgs[i].Calls[c].Arguments.String()
			msgs[i].Calls[c].Arguments = compact.Encoded(text, len(text), coding)
		}
	}
	return decoded
}

// TestEachMessageIsReadOnce: however many epochs, and whether it stays or leaves.
func TestEachMessageIsReadOnce(t *testing.T) {
	msgs := story(t)
	want := make([]int, len(msgs))
	decoded := counted(msgs)
	r := NewRecord(compacttest.Bytes{})
	lost, kept := epochs(msgs, 20)
	for k := range lost {
		stays := slices.Concat(kept(k), msgs[len(msgs)-2:])
		for _, m := range slices.Concat(stays, lost[k]) {
			want[m.Origin] = len(m.Parts) + len(m.Calls)
		}
		r.Add(lost[k], stays, 200, k%5 == 4)
	}
	if !slices.Equal(decoded, want) {
		t.Errorf("the texts of messages were read %d times, want %d", decoded, want)
	}
}

// TestARecordEndsWhereNobodyWaits, before the next message is read or told.
func TestARecordEndsWhereNobodyWaits(t *testing.T) {
	msgs := story(t)
	for _, after := range []int{10, len(msgs) + 10} {
		asked := 0
		text := NewRecord(compacttest.Bytes{}).Until(func() bool { asked++; return asked > after })(msgs, nil, 2000, true)
		if text != "" || asked <= after || asked > after+2 {
			t.Errorf("asked %d times, to leave after %d: %q", asked, after, text)
		}
	}
}

// TestPartsCostNoMoreThanTheirMessages: epochs after every few messages, and
// records made anew again and again, cost a fixed number of looks for each
// message.
func TestPartsCostNoMoreThanTheirMessages(t *testing.T) {
	for name, message := range map[string]string{
		"rules":   "You must keep thing_%d as it was. error: never_%d\n",
		"names":   "name_%da name_%db src/file_%d.go Kind%dOf\n",
		"nothing": "so it %d goes %d\n",
		"one":     "the same_thing again and again\n",
	} {
		work := func(n int) (looks int, allocs float64) {
			var lists [][]compact.Message
			for i := range n {
				text := strings.ReplaceAll(message, "%d", fmt.Sprint(i*7))
				lists = append(lists, []compact.Message{user(text)}, exchange(i, "edit_file", fmt.Sprintf(`{"path":"src/file_%d.go","old_string":"a_%d","new_string":"b"}`, i*7, i), text))
			}
			all := conversation(lists...)
			c := &countingLooks{}
			allocs = testing.AllocsPerRun(1, func() {
				r := NewRecord(c)
				for i := 0; i+20 <= len(all); i += 10 {
					r.Add(all[i:i+10], all[i+10:i+20], 150, i%50 == 0)
				}
			})
			return c.n / 2, allocs // AllocsPerRun runs it twice
		}
		_, allocs := work(1000)
		manyLooks, manyAllocs := work(4000)
		if manyLooks > 4000*3/10*looksPerPart || manyAllocs > allocs*5 {
			t.Errorf("%s: %d texts are counted for 12,000 messages; %.0f allocations, and %.0f for a quarter of them", name, manyLooks, manyAllocs, allocs)
		}
	}
}

// looksPerPart is how many texts are counted for a part at most: those of its tries, its
// head and its foot.
const looksPerPart = mostTries + 2

// houses calls f with a long record, each part of which is a few edits.
func houses(f func(i int, r *Record, lost []compact.Message)) *Record {
	r := NewRecord(compacttest.Bytes{})
	for i := range 200 {
		lists := [][]compact.Message{{user(fmt.Sprintf("Look at house %d, it is the one on the left.", i))}}
		if i == 3 {
			lists[0][0] = user("Never open the door of house 3.")
		}
		for k := range 5 {
			lists = append(lists, exchange(10*i+k, "edit", fmt.Sprintf(`{"path":"house_%d_%d.txt","old_string":"a","new_string":"b"}`, i*7, k), "done "+strings.Repeat("word ", 100)))
		}
		lost := conversation(lists...)
		for k := range lost {
			lost[k].Origin += 100 * i
		}
		f(i, r, lost)
	}
	return r
}

// TestARecordRemembersABoundedNumber of events, calls and files, so that making
// it anew again and again costs no more than the messages.
func TestARecordRemembersABoundedNumber(t *testing.T) {
	r := houses(func(i int, r *Record, lost []compact.Message) { r.Add(lost, nil, 300, i%10 == 9) })
	bytes := 0
	for _, e := range r.events {
		bytes += len(e.words) + len(e.result.Text)
	}
	if n := len(r.events); n > 512 || bytes > 1<<17 {
		t.Errorf("%d events of %d bytes are remembered", n, bytes)
	}
	if n, m := len(r.files), len(r.calls); n > 256 || m > 256 {
		t.Errorf("%d files and %d calls are remembered", n, m)
	}
}

// TestARuleOfAUserIsNeverForgotten, however much is said after it.
func TestARuleOfAUserIsNeverForgotten(t *testing.T) {
	houses(func(i int, r *Record, lost []compact.Message) {
		text := r.Add(lost, nil, 300, i%10 == 9)
		if i%10 == 9 && !strings.Contains(text, "\nuser: Never open the door of house 3.\n") && !t.Failed() {
			t.Errorf("at %d the rule is gone:\n%s", i, text)
		}
	})
}

// TestResultsFindTheirCalls, where ids come again in later rounds, and where a
// result left before its call.
func TestResultsFindTheirCalls(t *testing.T) {
	var lists [][]compact.Message
	for i := range 3 {
		lists = append(lists, exchange(1, "run", fmt.Sprintf(`{"command":"./count --round %d"}`, i), fmt.Sprintf("the answer is %d", 40+i)))
	}
	msgs := conversation(lists...)
	check := func(how, record string) {
		t.Helper()
		for i := range 3 {
			if want := fmt.Sprintf("$ ./count --round %d → the answer is %d", i, 40+i); !strings.Contains(record, want) || strings.Count(record, "$ ") != 3 {
				t.Errorf("%s: no %q in\n%s", how, want, record)
			}
		}
	}
	check("ids that recur", digestOf(msgs, nil, 300, compacttest.Bytes{}))
	back := slices.Clone(msgs)
	slices.Reverse(back)
	if text := digestOf(back, nil, 300, compacttest.Bytes{}); text != digestOf(msgs, nil, 300, compacttest.Bytes{}) {
		t.Errorf("in another order the record is another one:\n%s", text)
	}
	r := NewRecord(compacttest.Bytes{})
	r.Add([]compact.Message{msgs[1], msgs[5]}, []compact.Message{msgs[0], msgs[2], msgs[3], msgs[4]}, 300, false)
	r.Add([]compact.Message{msgs[3], msgs[0], msgs[2], msgs[4]}, nil, 300, false)
	check("results that left first", r.Add(nil, nil, 300, true))
	r = NewRecord(compacttest.Bytes{})
	tells(t, "a call whose result stays", r.Add(msgs[:1], msgs[1:], 300, false), "$ ./count --round 0\n")
	if text := r.Add(msgs[1:], nil, 300, false); strings.Count(text, "$ ./count") != 3 {
		t.Errorf("results that are told later:\n%s", text)
	}
	check("a result that left later", r.Add(nil, nil, 300, true))
}

// TestResultsInTextsOfTheUser are the results of calls of which Cline says that they are missing.
func TestResultsInTextsOfTheUser(t *testing.T) {
	texts := compact.Message{Role: compact.User}
	for _, text := range []string{
		"<feedback>\n# TODO LIST UPDATE REQUIRED is no title\n</feedback>", "Skipping tool [read_file for 'b.md'] due to user rejecting a previous tool.",
		"[read_file for 'a.md'] Result:\n1 | # A\n2 | You must always run it.\n\n(File has 2 lines total.)", "[execute_command for 'make'] Result:", "Command failed with exit code 2.\nOutput:\nno rule for make",
		"\n\n\t\t# TODO LIST UPDATE REQUIRED - You MUST include the task_progress parameter in your NEXT tool call.\n- [ ] Look", "<feedback>\nskip the docs\n</feedback>", "<environment_details>\n# Time\n</environment_details>",
	} {
		texts.Parts = append(texts.Parts, compact.Part{Text: compact.Plain(text)})
	}
	msgs := conversation(say(user("go")),
		exchange(4, "read_file", `{"path":"b.md"}`, "result missing"), exchange(1, "read_file", `{"path":"a.md","task_progress":"- [ ] Look"}`, "result missing"), exchange(2, "execute_command", `{"command":"make"}`, "result missing"),
		say(texts), exchange(3, "list_files", `{"path":"src","task_progress":"- [x] Look"}`, "result missing"))
	for k, origin := range []int{1, 4, 1, 5, 1, 6, 7, 8, 9} { // one message with three calls
		msgs[1+k].Origin = origin
	}
	check := func(how, record string, told ...string) {
		t.Helper()
		for _, want := range append(told, "user: skip the docs\n") {
			if strings.Count(record, want) != 1 {
				t.Errorf("%s: no %q in\n%s", how, want, record)
			}
		}
		if words := wordsIn(record); strings.Contains(words, "always") || strings.Count(record, "TODO") != 1 || strings.Contains(record, "missing") || strings.Contains(record, "Look") {
			t.Errorf("%s: said by nobody:\n%s", how, record)
		}
	}
	ends := []string{"user: # TODO LIST UPDATE REQUIRED is no title\n", "read a.md (2 lines)\n # A\n You must always run it.\n", "$ make → exit 2: no rule for make\n"}
	check("all left", digestOf(msgs, nil, 400, compacttest.Bytes{}), append(ends, "list_files path: src → no result\n")...)
	tells(t, "no result", digestOf(append(slices.Clone(msgs[:7]), assistant("I go on.")), nil, 400, compacttest.Bytes{}), "read a.md → no result\n", "$ make → no result\n")
	r := NewRecord(compacttest.Bytes{})
	tells(t, "the results stay", r.Add(msgs[:7], msgs[7:], 400, false), "read b.md → no result\n", "read a.md\n", no("missing"))
	check("then they leave", r.Add(msgs[7:], nil, 400, false), ends...)
}

// TestWhatASearchFoundStandsUnderItsFile, however few of the lines are told.
func TestWhatASearchFoundStandsUnderItsFile(t *testing.T) {
	var found strings.Builder
	for i := range 80 {
		fmt.Fprintf(&found, "src/f%d.ts\n│----\n%s│  const width = %d;\n│----\n\n", i, strings.Repeat("│  // said in so many words that nobody asks for them, whoever reads this\n", 5), 100+i)
	}
	record := recordOf(700, say(user("Which width is 117?")), exchange(1, "search_files", `{"path":"src","regex":"width"}`, found.String()))
	told, file := 0, ""
	for l := range strings.Lines(record) {
		var n int
		if strings.HasPrefix(l, " src/f") {
			file = l
		} else if _, err := fmt.Sscanf(l, " │  const width = %d;", &n); err == nil {
			if told++; file != fmt.Sprintf(" src/f%d.ts\n", n-100) {
				t.Errorf("%d is told under %s", n, file)
			}
		}
	}
	if told == 0 || told == 80 {
		t.Errorf("%d of 80 lines are told:\n%s", told, record)
	}
}

// TestAPartWithoutRoomIsToldLater says that what a part had no room for is told in the
// next one.
func TestAPartWithoutRoomIsToldLater(t *testing.T) {
	first := exchange(1, "run", `{"command":"make release-notes"}`, "exit code: 2\nno rule for release-notes")
	second := exchange(2, "run", `{"command":"go vet ./..."}`, "exit code: 0")
	for size := 1; size < 60; size++ {
		r := NewRecord(compacttest.Bytes{})
		if r.Add(first, nil, size, true) != "" {
			continue
		}
		if text := r.Add(second, nil, 200, false); !strings.Contains(text, "make release-notes") || !strings.Contains(text, "go vet") {
			t.Fatalf("after a part of %d tokens:\n%s", size, text)
		}
	}
}

// TestAPartWithoutRoomForgets says that a part without room for so much that it is
// forgotten leaves a record that can go on.
func TestAPartWithoutRoomForgets(t *testing.T) {
	var many []compact.Message
	for id := range 512 {
		many = append(many, exchange(id, "run", `{"command":"make release-notes-of-every-year"}`, "exit code: 2")...)
	}
	for size := 1; size < 60; size++ {
		r := NewRecord(compacttest.Bytes{})
		r.Add(many, nil, size, true)
		r.Add(exchange(9999, "run", `{"command":"go vet ./..."}`, "exit code: 0"), nil, 200, false)
	}
}
