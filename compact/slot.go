package compact

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// FoldVersion is the version of the fold: which messages leave for a slot, what its
// text stands for, and the frame of that text. A release in which any of these
// differs for the same conversation, policy and budget raises it. It belongs in the
// key of a text that is kept for longer than a process runs, because a text that was
// written for another fold must not be found.
const FoldVersion = "36"

// Digests reports whether a stage is a [Digester].
func Digests(s Stage) bool {
	_, is := s.(Digester)
	return is
}

// Digest returns the text of the slot that is made without a model. It is not safe for concurrent
// use.
func (s *Slot) Digest() string { return strings.Join(s.Texts(nil), "") }

// Told returns how many messages the digest of a span is told of: those that left or
// were shortened since the span before it, or since the beginning.
func (s *Slot) Told(span int) int {
	t := &s.draft.told[span]
	return t.to - t.from
}

// Texts returns the text of each span: its digest, or the given text, which is a summary of the
// messages of [Slot.Runs], with a digest of all that left for the span behind it, as far as there
// is room. The text of a span does not depend on what the others are given. Like [Slot.Digest]
// it is not safe for concurrent use.
func (s *Slot) Texts(given []string) []string {
	all := make([]string, len(s.Spans))
	copy(all, given)
	if slices.Equal(all, s.given) {
		return slices.Clone(s.texts)
	}
	in, shown := s.draft.in, slices.Clone(all)
	empty := func() Recorder { return in.policy.Records(s.draft.slot.by, in.counter, in.policy.Left) }
	record := empty()
	s.epochs(func(n int, lost, kept []Message) {
		if size := s.Spans[n].Size; all[n] != "" && !s.draft.slot.all {
			all[n] += empty()(lost, kept, max(0, size-CostText(in.counter, all[n])-1), true)
		}
		if slices.Contains(shown[n:], "") { // parts continue those before
			if text := record(lost, kept, s.Spans[n].Size, n == 0); shown[n] == "" {
				all[n] = text
			}
		}
	})
	s.given, s.texts = shown, all
	return slices.Clone(all)
}

// epochs calls f for each span, with the messages that left for it or were shortened, and with those
// that were there at its epoch, as they were. It goes through what was done to the list.
func (s *Slot) epochs(f func(n int, lost, kept []Message)) {
	d, originals := s.draft, s.draft.in.msgs
	own := make([]int, len(originals)) // the span, from 1, for which a message was copied
	msgs, removed, edits, moves := slices.Clone(originals), make([]bool, len(originals)), 0, 0
	for n, t := range d.told {
		for ; edits < t.edits; edits++ {
			e := &d.journal[edits]
			e.apply(&msgs[e.At], own[e.At] == n+1)
			own[e.At] = n + 1
		}
		for ; moves < t.moves; moves++ {
			removed[d.moves[moves].at] = d.moves[moves].was == 0
		}
		var lost, kept []Message
		for _, i := range d.left[t.from:t.to] {
			lost = append(lost, originals[i])
		}
		for i := range t.end {
			if !removed[i] {
				kept = append(kept, msgs[i])
			}
		}
		f(n, lost, kept)
	}
}

// Runs returns the messages that a span stands for, as they came: one run for
// each span that it replaced, oldest first, and one for what left since.
// Instructions, pins and the task stay, and are not included.
func (s *Slot) Runs(span int) [][]Message {
	runs := make([][]Message, len(s.Spans[span].Earlier)+1)
	for run, m := range s.Messages(span) {
		runs[run] = append(runs[run], *m)
	}
	return runs
}

// Messages yields the messages of [Slot.Runs], each with the number of its run.
// They must not be changed.
func (s *Slot) Messages(span int) iter.Seq2[int, *Message] {
	return func(yield func(int, *Message) bool) {
		d, p := s.draft, &s.Spans[span]
		from := p.From
		for run, to := range append(slices.Clip(p.Earlier), p.To) {
			for i := from; i < to; i++ {
				if d.slot.all && !d.removed(i) || d.msgs[i].Role.Instruction() || d.pinned[i] || d.tells(i) {
					continue
				}
				if !yield(run, &d.in.msgs[i]) {
					return
				}
			}
			from = max(from, to)
		}
	}
}

// Host returns the index, in the client's list, of the message whose text the slot
// follows, or -1.
func (s *Slot) Host() int {
	if s.At < 0 {
		return -1
	}
	return s.draft.in.msgs[s.At].Origin
}

// role returns the role of a message of the slot's own.
func (s *Slot) role() Role { return cmp.Or(s.Role, User) }

// sources returns how many messages of the client's list msgs come from.
func sources(msgs []Message) (n int) {
	for i := range msgs {
		n = max(n, msgs[i].Origin+1)
	}
	return n
}
