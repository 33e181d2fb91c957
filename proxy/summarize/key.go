package summarize

import (
	"strconv"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/fingerprint"
	"laconic/proxy/summarize/prompt"
	"laconic/store"
)

// gap names the messages that a span of a slot stands for, in every process. A
// span may stand for none, if all that left then had stayed before.
type gap struct {
	key store.Key // of its summary
	// For each span that this one replaced, oldest first: upTo is the key of a
	// summary of all messages up to its end, own that of its own summary.
	upTo, own []store.Key
	messages  int
}

// gap returns the names of a span's gap. It reads all its messages.
func (s *Service) gap(r *Request, in compact.Conversation, slot *compact.Slot, span int) gap {
	start := fingerprint.NewChain(nil)
	for _, m := range task(in) {
		start.Add(m)
	}
	empty := []byte(start.Sum())
	all, own := fingerprint.NewChain(empty), fingerprint.NewChain(empty)
	earlier := len(slot.Spans[span].Earlier)
	var g gap
	until := func(run int) {
		for len(g.own) < min(run, earlier) {
			g.upTo = append(g.upTo, s.storeKey(r, empty, all.Sum()))
			g.own = append(g.own, s.storeKey(r, empty, own.Sum()))
			own = fingerprint.NewChain(empty)
		}
	}
	for run, m := range slot.Messages(span) {
		until(run)
		all.Add(m)
		if run < earlier {
			own.Add(m)
		}
		g.messages++
	}
	until(earlier)
	g.key = s.storeKey(r, empty, all.Sum())
	return g
}

// format is the format of a stored summary: that of its key, and the versions of
// all that the text depends on beside what the key names. It is the first part of
// the key. A store may be older than the program, or shared with another version of
// it: neither finds what the other wrote, which expires like any value.
type format struct{ key, fold, prompt string }

// written is the format of this program. A change of what storeKey names, or of its
// order, raises the version of the key.
var written = format{key: "summary 4", fold: compact.FoldVersion, prompt: prompt.Version}

// storeKey returns the name of a summary in the store, which adds a secret of
// its own: those of one owner are a group, those of conversations that begin the
// same one partition. list is the hash of the messages that it stands for.
func (s *Service) storeKey(r *Request, start []byte, list string) store.Key {
	return s.store.Key(s.group(r.Owner), string(start), append([]string{
		s.format.key, s.format.fold, s.format.prompt, r.Policy, strconv.FormatBool(s.o.Mask),
		r.Upstream.String(), s.o.Upstream.String(), s.o.Model, list, r.Query,
	}, access.Credentials(r.Header)...)...)
}

// task returns the messages that tell the task of a conversation, newest first: the
// last of them tells the model best what matters.
func task(in compact.Conversation) (msgs []*compact.Message) {
	first, last := compact.Task(in.Messages)
	for i := last; i >= 0 && i >= first; i-- {
		if m := &in.Messages[i]; m.Role == compact.User {
			msgs = append(msgs, m)
		}
	}
	return msgs
}
