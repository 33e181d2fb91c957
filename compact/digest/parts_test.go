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
	lost, kept := epochs(story(t), 5)
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
