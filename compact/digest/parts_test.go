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

// TestAPartSaysWhatIsNew: what an earlier part has, and what the model still
// reads, is not said again; each part is a whole block.
func TestAPartSaysWhatIsNew(t *testing.T) {
	msgs := story(t)
	for i := range msgs {
		if msgs[i].Role == compact.User { // and twice in each message
			msgs[i].Parts[0].Text = compact.Plain(msgs[i].Parts[0].Text.String() + ". Keep the_port at 8080 until then.\nKeep the_port at 8080 until then.")
		}
	}
	lost, kept := epochs(msgs, 5)
	r := NewRecord(compacttest.Bytes{})
	record := ""
	for k := range lost {
		text := r.Add(lost[k], kept(k), 400, false)
		if n := compact.CostText(compacttest.Bytes{}, text); n > 400 || n < 200 {
			t.Errorf("part %d has %d tokens of 400", k, n)
		}
		head := fmt.Sprintf("\n[Record of %d more]\n", len(lost[k]))
		if k == 0 {
			head = fmt.Sprintf("\n\n[Record of %d earlier messages", len(lost[k]))
		}
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, "\n"+foot) {
			t.Errorf("part %d is no whole block:\n%s", k, text)
		}
		for line := range strings.Lines(strings.TrimSuffix(text, foot)) {
			if len(line) > 1 && strings.Contains(record, "\n"+line) && !strings.HasPrefix(line, "[Record") && !strings.HasSuffix(line, ":\n") {
				t.Errorf("part %d says again: %s", k, line)
			}
		}
		newest := fmt.Sprintf("question %d ", lost[k][len(lost[k])-3:][0].Origin/3)
		if !strings.Contains(text, newest) {
			t.Errorf("part %d does not have %q:\n%s", k, newest, text)
		}
		record += text
	}
	if n := strings.Count(record, "the_port"); n != 1 {
		t.Errorf("what each message says is there %d times:\n%s", n, record)
	}
}

// TestARecordMadeAnewIsForAll: after a number of parts it is what one digest of
// everything is.
func TestARecordMadeAnewIsForAll(t *testing.T) {
	msgs := story(t)
	kept := compacttest.Messages(t, "user: see src/file_170.go and HandlerNumber3")
	kept[0].Origin = len(msgs)
	for _, size := range []int{100, 400, 1500} {
		r := NewRecord(compacttest.Bytes{})
		lost, _ := epochs(msgs, 6)
		for k := range lost {
			if len(slices.Concat(lost[:k]...))%5 == 0 {
				r.Add(lost[k], kept, 10, false) // too small to say anything
			} else {
				r.Add(lost[k], kept, size/4, false)
			}
		}
		all := slices.Concat(lost...)
		if got, want := r.Add(nil, kept, size, true), Of(all, kept, size, compacttest.Bytes{}); got != want {
			t.Errorf("size %d: made anew\n%s\nis not the digest of all\n%s", size, got, want)
		}
	}
}

// TestEachMessageIsReadOnce: however many epochs, and whether it stays or leaves.
func TestEachMessageIsReadOnce(t *testing.T) {
	msgs := story(t)
	decoded := make([]int, len(msgs))
	for i := range msgs {
		coding := &compact.Coding{
			Decode: func(s string) string { decoded[i]++; return s },
			Append: func(dst []byte, s string) []byte { decoded[i]++; return append(dst, s...) },
		}
		for p := range msgs[i].Parts {
			text := msgs[i].Parts[p].Text.String()
			msgs[i].Parts[p].Text = compact.Encoded(text, len(text), coding)
		}
	}
	r := NewRecord(compacttest.Bytes{})
	lost, kept := epochs(msgs, 20)
	want := make([]int, len(msgs))
	for k := range lost {
		stays := slices.Concat(kept(k), msgs[len(msgs)-2:])
		for _, m := range slices.Concat(stays, lost[k]) {
			want[m.Origin] = 1
		}
		r.Add(lost[k], stays, 200, k%5 == 4)
	}
	if !slices.Equal(decoded, want) {
		t.Errorf("the messages were read %d times, want %d", decoded, want)
	}
}

// TestPartsCostNoMoreThanTheirMessages: epochs after every few messages, each with
// a line for every section, and records made anew again and again, cost a fixed
// number of looks for each message.
func TestPartsCostNoMoreThanTheirMessages(t *testing.T) {
	for name, message := range map[string]string{
		"rules":   "You must keep thing_%d as it was. error: never_%d\n",
		"names":   "name_%da name_%db src/file_%d.go Kind%dOf\n",
		"nothing": "so it %d goes %d\n",
		"one":     "the same_thing again and again\n",
	} {
		work := func(n int) (looks int, allocs float64) {
			var all []compact.Message
			for i := range n {
				text := strings.ReplaceAll(message, "%d", fmt.Sprint(i*7))
				all = append(all, user(text))
				all = append(all, exchange(i, "edit_file", fmt.Sprintf(`{"path":"src/file_%d.go","old_string":"a_%d"}`, i*7, i), text)...)
			}
			for i := range all {
				all[i].Origin = i
			}
			c := &countingLooks{}
			allocs = testing.AllocsPerRun(1, func() {
				r := NewRecord(c)
				for i := 0; i+20 <= len(all); i += 10 {
					r.Add(all[i:i+10], all[i+10:i+20], 150, i%50 == 0)
				}
			})
			return c.n, allocs
		}
		looks, allocs := work(1000)
		manyLooks, manyAllocs := work(4000)
		if manyLooks > looks*5 || manyAllocs > allocs*5 {
			t.Errorf("%s: %d texts are counted for 3,000 messages, %d for 12,000; %.0f and %.0f allocations", name, looks, manyLooks, allocs, manyAllocs)
		}
	}
}

// TestARecordRemembersABoundedNumber of names, changes and texts that bind, so that
// making it anew again and again costs no more than the messages.
func TestARecordRemembersABoundedNumber(t *testing.T) {
	r := NewRecord(compacttest.Bytes{})
	for i := range 300 {
		var lost []compact.Message
		for k := range 10 {
			name := fmt.Sprintf("file_%dq%d", i*7, k)
			lost = append(lost, user("You must never look at "+name+" again."))
			lost = append(lost, exchange(i, "edit", `{"path":"`+name+`"}`, fmt.Sprintf("%sa %sb", name, name))...)
		}
		for k := range lost {
			lost[k].Origin = 100*i + k
		}
		r.Add(lost, nil, 150, true)
	}
	const walk = max(leastWalk, walkPerToken*150)
	if n := len(r.index.lost); n > max(leastNames, namesPerToken*150) || n != len(r.index.names) {
		t.Errorf("%d names of %d are remembered", len(r.index.names), n)
	}
	if n := len(r.all.writes); n > walk {
		t.Errorf("%d changes are remembered", n)
	}
	if n := len(r.all.binding); n > walk/8+150 {
		t.Errorf("%d texts that bind are remembered", n)
	}
	all := r.all
	all.limit(walk)
	if n := max(len(all.sources), len(all.actions), len(all.answers), len(all.users), len(all.ruled), len(all.short)); n > walk {
		t.Errorf("a part looks at %d", n)
	}
}
