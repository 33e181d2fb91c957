package replay_test

import "laconic/compact"

// records are the texts that the records of one conversation said, told from
// each other by how much they were told and when: a policy promises that the
// same start of a conversation makes the same record.
type records map[told]string

// told is one call of a record.
type told struct {
	call, lost, kept, size int
	newest                 int // the last message that is kept, in the client's list
	anew                   bool
	before                 string // the text of the call before
}

// recorder is a record that asks another only for what was not said yet.
type recorder struct {
	records
	of      func() compact.Recorder
	by      compact.Recorder // nil: not asked yet
	calls   int
	text    string                          // of the last call
	pending []func(compact.Recorder) string // what by was not told yet
}

// trusted makes a replay quick: it takes a record from the request before if no
// epoch came between, as the policy promises that it would be the same.
func trusted(by compact.Digester, c compact.Counter, left func() bool) compact.Recorder {
	return (&recorder{records: c.(*messagesOnly).records, of: func() compact.Recorder { return by.Record(c, left) }}).add
}

// add is a [compact.Recorder].
func (r *recorder) add(lost, kept []compact.Message, size int, anew bool) string {
	key := told{r.calls, len(lost), len(kept), size, -1, anew, r.text}
	if n := len(kept); n > 0 {
		key.newest = kept[n-1].Origin
	}
	r.calls++
	r.pending = append(r.pending, func(by compact.Recorder) string { return by(lost, kept, size, anew) })
	if text, ok := r.records[key]; ok {
		r.text = text
		return text
	}
	if r.by == nil {
		r.by = r.of()
	}
	for _, tell := range r.pending {
		r.text = tell(r.by)
	}
	r.pending = nil
	r.records[key] = r.text
	return r.text
}
